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
