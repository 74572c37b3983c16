/// The assignments of a TOML file with their places, so that a part of it can be changed.
struct TOMLText {
  enum Value {
    /// Without its quotes. It has no escapes.
    case string(Range<Int>)
    /// The strings of an array that has nothing else.
    case strings([Range<Int>], end: Int)
    /// A table in braces.
    case table
    case other
  }

  struct Assignment {
    /// The names of the tables and of the value.
    let path: [String]
    /// From 1.
    let line: Int
    /// From the name to the end of the value.
    let range: Range<Int>
    let value: Value
  }

  struct Header {
    let path: [String]
    /// Behind its bracket.
    let end: Int
  }

  private(set) var assignments: [Assignment] = []
  /// Tables that are not elements of arrays.
  private(set) var headers: [Header] = []

  private static let longestNesting = 32
  private let text: SourceText
  private var offset = 0
  private var depth = 0

  /// - Throws: `notationUnknown`, `memberTwice`, `quoteOpen`, `tooDeep`.
  init(of text: SourceText) throws {
    self.text = text
    var table: [String] = []
    var paths: Set<[String]> = []
    var (line, counted) = (1, 0)
    while skipBlanks(acrossLines: true) {
      let start = offset
      if text[offset] == UInt8(ascii: "[") {
        offset += 1
        let isElement = take("[")
        table = try path(until: UInt8(ascii: "]"))
        guard !isElement || take("]") else { throw error(.notationUnknown) }
        // Elements have the same names.
        if isElement {
          table.insert("", at: 0)
        } else {
          headers.append(Header(path: table, end: offset))
        }
      } else {
        let path = table + (try path(until: UInt8(ascii: "=")))
        _ = skipBlanks(acrossLines: false)
        let value = try value()
        guard path[0].isEmpty || paths.insert(path).inserted else { throw error(.memberTwice) }
        line += text.lineEnds(in: counted..<start)
        counted = start
        assignments.append(Assignment(path: path, line: line, range: start..<offset, value: value))
      }
      if skipBlanks(acrossLines: false), text[offset] != SourceText.lineFeed { throw error(.notationUnknown) }
    }
  }

  private func error(_ code: ForeignError.Code) -> ForeignError { ForeignError(code, line: text.line(of: offset)) }

  private mutating func take(_ mark: StaticString) -> Bool {
    guard text.holds(mark, at: offset) else { return false }
    offset += mark.utf8CodeUnitCount
    return true
  }

  /// Comments are blanks.
  /// - Returns: false at the end of the text.
  private mutating func skipBlanks(acrossLines: Bool) -> Bool {
    while offset < text.count {
      if text[offset] == UInt8(ascii: "#") {
        offset = text.offset(of: SourceText.lineFeed, in: offset..<text.count) ?? text.count
      } else if SourceText.isBlank(text[offset]) || acrossLines && text[offset] == SourceText.lineFeed {
        offset += 1
      } else {
        return true
      }
    }
    return false
  }

  // MARK: Names

  /// A name with dots, and the mark behind it.
  private mutating func path(until mark: UInt8) throws -> [String] {
    var names: [String] = []
    while true {
      while offset < text.count, SourceText.isBlank(text[offset]) { offset += 1 }
      names.append(try name())
      while offset < text.count, SourceText.isBlank(text[offset]) { offset += 1 }
      guard offset < text.count, [mark, UInt8(ascii: ".")].contains(text[offset]) else { throw error(.notationUnknown) }
      offset += 1
      if text[offset - 1] == mark { return names }
    }
  }

  private mutating func name() throws -> String {
    if offset < text.count, ["\"", "'"].contains(Character(UnicodeScalar(text[offset]))) {
      guard case .string(let range) = try string() else { throw error(.notationUnknown) }
      return text.text(range)
    }
    let start = offset
    while offset < text.count, text[offset].isLetterOrDigit || "_-".utf8.contains(text[offset]) { offset += 1 }
    guard offset > start else { throw error(.notationUnknown) }
    return text.text(start..<offset)
  }

  // MARK: Values

  private mutating func value() throws -> Value {
    guard offset < text.count else { throw error(.notationUnknown) }
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.longestNesting else { throw error(.tooDeep) }
    switch text[offset] {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return try string()
    case UInt8(ascii: "["): return try array()
    case UInt8(ascii: "{"): return try inlineTable()
    default:
      let start = offset
      while offset < text.count, text[offset].isLetterOrDigit || "+-_.:".utf8.contains(text[offset]) { offset += 1 }
      guard offset > start else { throw error(.notationUnknown) }
      // A date may have a blank before its time.
      let isDate = offset == start + 10 && text.holds("-", at: start + 4)
      if isDate, text.holds(" ", at: offset), offset + 1 < text.count, text[offset + 1].isLetterOrDigit {
        offset += 1
        return try value()
      }
      return .other
    }
  }

  private mutating func string() throws -> Value {
    let quote = text[offset]
    let isLong = text.holds("\"\"\"", at: offset) || text.holds("'''", at: offset)
    offset += isLong ? 3 : 1
    let start = offset
    var isEscaped = false
    while offset < text.count, isLong || text[offset] != SourceText.lineFeed {
      if text[offset] == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
        isEscaped = true
        offset += 2
      } else if text[offset] != quote {
        offset += 1
      } else if !isLong {
        offset += 1
        return isEscaped ? .other : .string(start..<offset - 1)
      } else if take("\"\"\"") || take("'''") {
        // Two more quotes may be its last letters.
        while offset < text.count, text[offset] == quote { offset += 1 }
        return .other
      } else {
        offset += 1
      }
    }
    throw error(.quoteOpen)
  }

  private mutating func array() throws -> Value {
    var strings: [Range<Int>] = []
    var isOther = false
    offset += 1
    while skipBlanks(acrossLines: true) {
      if take("]") { return isOther ? .other : .strings(strings, end: offset - 1) }
      if case .string(let range) = try value() { strings.append(range) } else { isOther = true }
      guard skipBlanks(acrossLines: true) else { break }
      guard take(",") || text.holds("]", at: offset) else { throw error(.notationUnknown) }
    }
    throw error(.cutOff)
  }

  private mutating func inlineTable() throws -> Value {
    offset += 1
    while skipBlanks(acrossLines: true) {
      if take("}") { return .table }
      _ = try path(until: UInt8(ascii: "="))
      _ = skipBlanks(acrossLines: false)
      _ = try value()
      guard skipBlanks(acrossLines: true) else { break }
      guard take(",") || text.holds("}", at: offset) else { throw error(.notationUnknown) }
    }
    throw error(.cutOff)
  }
}
