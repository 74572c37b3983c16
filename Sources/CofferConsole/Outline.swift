/// Lines for people at a terminal: names that are indented below headings, and columns beside them that fit its width.
package struct Outline {
  /// How a column becomes narrower, if the lines are too wide.
  package enum Column: Sendable {
    /// It is left out.
    case whole
    /// Its texts are cut off at a number of columns, and then it is left out.
    case cut(to: Int)
    /// Its texts are shown up to a number of columns, such as the date of a time, and then it is left out.
    case begin(Int)
  }

  private struct Line {
    let name: String
    /// nil for a heading.
    var cells: [String]?
  }

  private let columns: [Column]
  private var lines: [Line] = []

  /// - Parameter columns: Those beside the names. The last one is narrowed first.
  package init(columns: [Column]) { self.columns = columns }

  package mutating func addHeading(_ text: String, depth: Int) {
    lines.append(Line(name: Self.indented(text, depth), cells: nil))
  }

  package mutating func add(_ name: String, depth: Int, _ cells: [String]) {
    lines.append(Line(name: Self.indented(name, depth), cells: cells.map { $0.escapingControls() }))
  }

  private static func indented(_ name: String, _ depth: Int) -> String {
    String(repeating: "  ", count: depth) + name.escapingControls()
  }

  package func text(style: OutputStyle) -> String {
    let width = style.width
    let rows = lines.compactMap(\.cells)
    let nameWidth = lines.filter { $0.cells != nil }.map(\.name.columns).max() ?? 0
    let widths = fitted(columns.indices.map { index in rows.map { $0[index].columns }.max() ?? 0 }, to: width - nameWidth)
    return lines.map { line in
      guard let cells = line.cells else { return style.bold(line.name.cut(to: width)) + "\n" }
      var text = line.name
      var end = nameWidth
      for (index, width) in widths.enumerated() where width > 0 {
        let cell = if case .begin = columns[index] { String(cells[index].prefix(width)) } else { cells[index].cut(to: width) }
        text += String(repeating: " ", count: max(0, end + 2 - text.columns)) + cell
        end += width + 2
      }
      while text.last == " " { text.removeLast() }
      return text.cut(to: width) + "\n"
    }.joined()
  }

  /// The widths of the columns, 0 for one that is left out.
  private func fitted(_ widths: [Int], to room: Int) -> [Int] {
    var widths = widths
    func excess() -> Int { widths.reduce(0) { $0 + ($1 > 0 ? $1 + 2 : 0) } - room }
    for (index, column) in columns.enumerated().reversed() {
      guard excess() > 0 else { break }
      switch column {
      case .whole: break
      case .cut(let least): widths[index] = max(min(least, widths[index]), widths[index] - excess())
      case .begin(let count): widths[index] = min(count, widths[index])
      }
    }
    for index in widths.indices.reversed() {
      guard excess() > 0 else { break }
      widths[index] = 0
    }
    return widths
  }
}

extension String {
  /// How many columns it takes on a terminal. The wide ranges are those of East Asian scripts and of pictures.
  package var columns: Int { reduce(0) { $0 + $1.columns } }

  /// The beginning that fits, with an ellipsis if there is more.
  fileprivate func cut(to width: Int) -> String {
    guard columns > width else { return self }
    guard width > 0 else { return "" }
    var left = width - 1
    let kept = prefix { character in
      left -= character.columns
      return left >= 0
    }
    return kept + "…"
  }
}

extension Character {
  fileprivate var columns: Int { unicodeScalars.first?.isWide == true ? 2 : 1 }
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
