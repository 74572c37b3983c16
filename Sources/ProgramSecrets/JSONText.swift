/// A value of a JSON text (RFC 8259), by its place there. The text may lie in locked memory: strings leave it only as names.
package struct JSONText: Sendable {
  package indirect enum Value: Sendable {
    case object([Member])
    case array([JSONText])
    /// Between the quotes.
    case string
    case number
    case boolean(Bool)
    case null
  }

  package struct Member: Sendable {
    package let name: String
    /// From the quote before the name.
    package let offset: Int
    package let value: JSONText
  }

  package let value: Value
  /// In bytes, with the quotes of a string.
  package let range: Range<Int>
  /// From 1.
  package let line: Int

  package init(_ value: Value, _ range: Range<Int>, line: Int) { (self.value, self.range, self.line) = (value, range, line) }
}

/// Why a text is not taken as JSON.
package struct JSONError: Error, Equatable, Sendable {
  package enum Code: Sendable {
    case notJSON
    case cutOff
    case tooDeep
    /// Programs differ in which of the two values they take.
    case memberTwice
    /// An escape for one half of a character beyond the first 65,536, without the other half.
    case halfCharacter
  }

  package let code: Code
  /// In bytes.
  package let offset: Int
  /// From 1.
  package let line: Int
  /// The name of the member that stands twice.
  package let name: String
}

extension JSONText {
  /// - Throws: `JSONError`.
  package init(parsing text: some TextBytes) throws {
    var reader = JSONReader(text)
    self = try reader.document()
  }

  package var members: [Member] { if case .object(let members) = value { members } else { [] } }
  package var elements: [JSONText] { if case .array(let elements) = value { elements } else { [] } }
  package var isString: Bool { if case .string = value { true } else { false } }
  package var isNumber: Bool { if case .number = value { true } else { false } }
  package var isObject: Bool { if case .object = value { true } else { false } }
  package var isArray: Bool { if case .array = value { true } else { false } }
  package var isNull: Bool { if case .null = value { true } else { false } }
  package var isTrue: Bool { if case .boolean(true) = value { true } else { false } }

  package subscript(name: String) -> JSONText? { members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value }

  /// Hands on the bytes of a string, without its escapes; none for another value.
  package func forEachByte<Text: TextBytes, Failure: Error>(
    of text: Text, _ body: (UInt8) throws(Failure) -> Void
  ) throws(Failure) {
    guard isString else { return }
    var decoder = JSONStringDecoder(text, range.lowerBound + 1..<range.upperBound - 1)
    while let byte = decoder.next() { try body(byte) }
  }
}

private struct JSONReader<Text: TextBytes> {
  private static var maximumDepth: Int { 32 }

  private let text: Text
  private var position = 0
  private var line = 1

  init(_ text: Text) { self.text = text }

  mutating func document() throws(JSONError) -> JSONText {
    // A byte order mark, which programs on Windows write.
    if text.count >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF { position = 3 }
    let value = try value(depth: 0)
    skipSpace()
    guard position == text.count else { throw error() }
    return value
  }

  private func error(_ code: JSONError.Code? = nil, name: String = "") -> JSONError {
    JSONError(code: code ?? (position < text.count ? .notJSON : .cutOff), offset: position, line: line, name: name)
  }

  private mutating func skipSpace() {
    while position < text.count {
      switch text[position] {
      case UInt8(ascii: "\n"): line += 1
      case 0x20, 0x09, 0x0D: break
      default: return
      }
      position += 1
    }
  }

  private mutating func takes(_ byte: UInt8) -> Bool {
    skipSpace()
    guard position < text.count, text[position] == byte else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) throws(JSONError) -> JSONText {
    guard depth < Self.maximumDepth else { throw error(.tooDeep) }
    skipSpace()
    guard position < text.count else { throw error() }
    let (start, startLine) = (position, line)
    let value: JSONText.Value
    switch text[position] {
    case UInt8(ascii: "{"): value = .object(try members(depth: depth))
    case UInt8(ascii: "["): value = .array(try elements(depth: depth))
    case UInt8(ascii: "\""):
      try skipString()
      value = .string
    case UInt8(ascii: "t"): value = try literal("true", .boolean(true))
    case UInt8(ascii: "f"): value = try literal("false", .boolean(false))
    case UInt8(ascii: "n"): value = try literal("null", .null)
    default:
      try skipNumber()
      value = .number
    }
    return JSONText(value, start..<position, line: startLine)
  }

  private mutating func literal(_ word: StaticString, _ value: JSONText.Value) throws(JSONError) -> JSONText.Value {
    for index in 0..<word.utf8CodeUnitCount {
      guard position < text.count, unsafe word.utf8Start[index] == text[position] else { throw error() }
      position += 1
    }
    return value
  }

  private mutating func members(depth: Int) throws(JSONError) -> [JSONText.Member] {
    position += 1
    var members: [JSONText.Member] = []
    var names: Set<[UInt8]> = []
    if takes(UInt8(ascii: "}")) { return [] }
    repeat {
      skipSpace()
      guard position < text.count, text[position] == UInt8(ascii: "\"") else { throw error() }
      let offset = position
      try skipString()
      var name: [UInt8] = []
      JSONText(.string, offset..<position, line: line).forEachByte(of: text) { name.append($0) }
      guard names.insert(name).inserted else { throw error(.memberTwice, name: String(decoding: name, as: UTF8.self)) }
      guard takes(UInt8(ascii: ":")) else { throw error() }
      let value = try value(depth: depth + 1)
      members.append(.init(name: String(decoding: name, as: UTF8.self), offset: offset, value: value))
    } while takes(UInt8(ascii: ","))
    guard takes(UInt8(ascii: "}")) else { throw error() }
    return members
  }

  private mutating func elements(depth: Int) throws(JSONError) -> [JSONText] {
    position += 1
    var elements: [JSONText] = []
    if takes(UInt8(ascii: "]")) { return [] }
    repeat { elements.append(try value(depth: depth + 1)) } while takes(UInt8(ascii: ","))
    guard takes(UInt8(ascii: "]")) else { throw error() }
    return elements
  }

  private mutating func skipString() throws(JSONError) {
    position += 1
    while position < text.count, text[position] != UInt8(ascii: "\"") {
      guard text[position] >= 0x20 else { throw error() }
      guard text[position] == UInt8(ascii: "\\") else {
        position += 1
        continue
      }
      guard let length = JSONStringDecoder.escape(at: position, text) else {
        guard position + 1 < text.count else {
          position = text.count
          throw error()
        }
        throw error(JSONStringDecoder.isHalf(at: position, text) ? .halfCharacter : .notJSON)
      }
      position += length
    }
    guard position < text.count else { throw error() }
    position += 1
  }

  private mutating func skipNumber() throws(JSONError) {
    let start = position
    while position < text.count {
      switch text[position] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), 0x2B, 0x2D, 0x2E, 0x45, 0x65: position += 1
      default:
        guard position > start else { throw error() }
        return
      }
    }
    guard position > start else { throw error() }
  }
}
