internal import ProgramSecrets

/// Rows of values between separators, of which a quoted one may hold separators, line ends and doubled quotes: RFC 4180.
struct CSVTable {
  struct Cell {
    /// Between the quotes, if it has some.
    let range: Range<Int>
    let isQuoted: Bool
    let line: Int
  }

  struct Row {
    let cells: [Cell]
    /// On which it begins, from 1.
    let line: Int
  }

  private static let quote = UInt8(ascii: "\"")

  let columns: [String]
  private(set) var rows: [Row] = []
  private let text: SourceText

  /// - Throws: `quoteOpen`, `textAfterQuote`; `columnCount`, for a row with more or fewer cells than the first; `cutOff`, for no row.
  init(_ text: SourceText) throws {
    self.text = text
    // A byte order mark, which programs on Windows write.
    var reader = Reader(text: text, position: text.holds("\u{FEFF}", at: 0) ? 3 : 0)
    guard let header = try reader.next() else { throw ForeignError(.cutOff, line: 1) }
    columns = try header.cells.map { try Self.value($0, of: text).text }
    while let row = try reader.next() {
      guard row.cells.count == columns.count else { throw ForeignError(.columnCount, line: row.line) }
      rows.append(row)
    }
  }

  /// - Throws: `fieldTooLarge`; as `Secret(count:)`.
  func value(_ cell: Cell) throws -> HeldSecret { try Self.value(cell, of: text) }

  private static func value(_ cell: Cell, of text: SourceText) throws -> HeldSecret {
    var value = try SecretBuilder()
    var offset = cell.range.lowerBound
    while offset < cell.range.upperBound {
      try value.append(text[offset], line: cell.line)
      // The second one of two quotes within quotes is left out.
      offset += cell.isQuoted && text[offset] == quote ? 2 : 1
    }
    return try value.finish()
  }

  private struct Reader {
    let text: SourceText
    var position: Int
    var line = 1
    /// Excel writes the one of the country, other programs a comma. The first row decides.
    var separator: UInt8?

    /// The next row that is not an empty line.
    mutating func next() throws -> Row? {
      while position < text.count {
        let begin = line
        let cells = try cells()
        if cells.count > 1 || cells[0].isQuoted || !cells[0].range.isEmpty { return Row(cells: cells, line: begin) }
      }
      return nil
    }

    private mutating func cells() throws -> [Cell] {
      var cells: [Cell] = []
      while true {
        cells.append(try cell())
        guard position < text.count else { return cells }
        let isEnd = text[position] == SourceText.lineFeed
        position += 1
        guard isEnd else { continue }
        line += 1
        return cells
      }
    }

    /// Ends at a separator, a line end, or the end of the file.
    private mutating func cell() throws -> Cell {
      let (start, begin) = (position, line)
      guard position < text.count, text[position] == CSVTable.quote else {
        while position < text.count, text[position] != SourceText.lineFeed, !isSeparator(text[position]) { position += 1 }
        return Cell(range: start..<withoutReturn(start, position), isQuoted: false, line: begin)
      }
      position += 1
      while true {
        guard position < text.count else { throw ForeignError(.quoteOpen, line: begin) }
        if text[position] == SourceText.lineFeed { line += 1 }
        if text[position] == CSVTable.quote {
          guard position + 1 < text.count, text[position + 1] == CSVTable.quote else { break }
          position += 1
        }
        position += 1
      }
      let range = start + 1..<position
      position += 1
      if position < text.count, text[position] == 0x0D { position += 1 }
      guard position == text.count || text[position] == SourceText.lineFeed || isSeparator(text[position]) else {
        throw ForeignError(.textAfterQuote, line: line)
      }
      return Cell(range: range, isQuoted: true, line: begin)
    }

    private mutating func isSeparator(_ byte: UInt8) -> Bool {
      if let separator { return byte == separator }
      guard [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09].contains(byte) else { return false }
      separator = byte
      return true
    }

    /// The end of a cell before the return of a line end.
    private func withoutReturn(_ start: Int, _ end: Int) -> Int {
      let isLineEnd = end == text.count || text[end] == SourceText.lineFeed
      return isLineEnd && end > start && text[end - 1] == 0x0D ? end - 1 : end
    }
  }
}
