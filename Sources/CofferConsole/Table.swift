/// Rows of text: aligned under a heading for people at a terminal, separated by tabs and without a heading for programs.
package struct Table {
  let heading: [String]
  package var rows: [[String]]

  package init(heading: [String], rows: [[String]] = []) {
    self.heading = heading
    self.rows = rows
  }

  package func text(style: OutputStyle) -> String {
    let rows = rows.map { row in row.map { $0.escapingControls() } }
    guard style.isTerminal else { return rows.map { $0.joined(separator: "\t") + "\n" }.joined() }
    guard !rows.isEmpty else { return "" }
    var widths = heading.map(\.columns)
    for row in rows {
      for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.columns) }
    }
    let lines = rows.map { Self.line($0, widths) + "\n" }
    return style.bold(Self.line(heading, widths)) + "\n" + lines.joined()
  }

  private static func line(_ cells: [String], _ widths: [Int]) -> String {
    var line = ""
    for (index, cell) in cells.enumerated() {
      line += cell
      guard index + 1 < cells.count else { break }
      line += String(repeating: " ", count: widths[index] - cell.columns + 2)
    }
    while line.last == " " { line.removeLast() }
    return line
  }
}

extension String {
  /// How many columns it takes on a terminal. The wide ranges are those of East Asian scripts and of pictures.
  fileprivate var columns: Int {
    reduce(0) { $0 + ($1.unicodeScalars.first?.isWide == true ? 2 : 1) }
  }
}

extension Unicode.Scalar {
  fileprivate var isWide: Bool {
    switch value {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
      0x1F300...0x1FAFF, 0x20000...0x3FFFD:
      true
    default: false
    }
  }
}
