package import ProgramSecrets

/// A value of a JSON file (RFC 8259), by its place in the text. Strings leave locked memory only as names.
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
  package let line: Int
}

extension JSONText {
  /// - Throws: `notJSON`, `cutOff`, `tooDeep`, `memberTwice`.
  package init(parsing text: SourceText) throws {
    var reader = JSONReader(text)
    self = try reader.document()
  }

  package var members: [Member] { if case .object(let members) = value { members } else { [] } }
  package var elements: [JSONText] { if case .array(let elements) = value { elements } else { [] } }
  package var isString: Bool { if case .string = value { true } else { false } }
  package var isObject: Bool { if case .object = value { true } else { false } }
  package var isArray: Bool { if case .array = value { true } else { false } }
  package var isNull: Bool { if case .null = value { true } else { false } }

  package subscript(name: String) -> JSONText? { members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value }

  /// Returns nil for another value than a string.
  /// - Throws: `fieldTooLarge`.
  package func secret(in text: SourceText) throws -> HeldSecret? {
    guard isString else { return nil }
    var value = try SecretBuilder()
    var decoder = JSONStringDecoder(text, range.lowerBound + 1..<range.upperBound - 1)
    while let byte = decoder.next() { try value.append(byte, line: line) }
    return try value.finish()
  }

  /// Returns nil for another value than a string.
  package func text(in text: SourceText) throws -> String? { try secret(in: text)?.text }
}

private struct JSONReader {
  private static let maximumDepth = 32

  private let text: SourceText
  private var position = 0
  private var line = 1

  init(_ text: SourceText) { self.text = text }

  mutating func document() throws -> JSONText {
    // A byte order mark, which programs on Windows write.
    if text.holds("\u{FEFF}", at: 0) { position = 3 }
    let value = try value(depth: 0)
    skipSpace()
    guard position == text.count else { throw error }
    return value
  }

  private var error: ForeignError { ForeignError(position < text.count ? .notJSON : .cutOff, line: line) }

  private mutating func skipSpace() {
    while position < text.count, SourceText.isBlank(text[position]) || text[position] == SourceText.lineFeed {
      if text[position] == SourceText.lineFeed { line += 1 }
      position += 1
    }
  }

  private mutating func takes(_ byte: UInt8) -> Bool {
    skipSpace()
    guard position < text.count, text[position] == byte else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) throws -> JSONText {
    guard depth < Self.maximumDepth else { throw ForeignError(.tooDeep, line: line) }
    skipSpace()
    guard position < text.count else { throw error }
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
    return JSONText(value: value, range: start..<position, line: startLine)
  }

  private mutating func literal(_ word: StaticString, _ value: JSONText.Value) throws -> JSONText.Value {
    guard text.holds(word, at: position) else { throw error }
    position += word.utf8CodeUnitCount
    return value
  }

  private mutating func members(depth: Int) throws -> [JSONText.Member] {
    position += 1
    var members: [JSONText.Member] = []
    var names: Set<[UInt8]> = []
    if takes(UInt8(ascii: "}")) { return [] }
    repeat {
      skipSpace()
      guard position < text.count, text[position] == UInt8(ascii: "\"") else { throw error }
      let offset = position
      try skipString()
      let name = try JSONText(value: .string, range: offset..<position, line: line).text(in: text) ?? ""
      // Programs differ in which of two values they take.
      guard names.insert(Array(name.utf8)).inserted else { throw ForeignError(.memberTwice, line: line, name) }
      guard takes(UInt8(ascii: ":")) else { throw error }
      members.append(.init(name: name, offset: offset, value: try value(depth: depth + 1)))
    } while takes(UInt8(ascii: ","))
    guard takes(UInt8(ascii: "}")) else { throw error }
    return members
  }

  private mutating func elements(depth: Int) throws -> [JSONText] {
    position += 1
    var elements: [JSONText] = []
    if takes(UInt8(ascii: "]")) { return [] }
    repeat { elements.append(try value(depth: depth + 1)) } while takes(UInt8(ascii: ","))
    guard takes(UInt8(ascii: "]")) else { throw error }
    return elements
  }

  private mutating func skipString() throws {
    position += 1
    while position < text.count, text[position] != UInt8(ascii: "\"") {
      guard text[position] >= 0x20 else { throw error }
      if text[position] == UInt8(ascii: "\\") {
        position += 1
        guard position < text.count else { throw error }
        guard try JSONStringDecoder.isEscape(at: position, text) else { throw error }
      }
      position += 1
    }
    guard position < text.count else { throw error }
    position += 1
  }

  private mutating func skipNumber() throws {
    let start = position
    func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    while position < text.count, isDigit(text[position]) || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains(text[position]) {
      position += 1
    }
    guard position > start else { throw error }
  }
}

/// The bytes of a string, without its escapes.
private struct JSONStringDecoder {
  private let text: SourceText
  private let end: Int
  private var position: Int
  /// The rest of a character that stands as an escape, the next byte lowest. UTF-8 has no zero byte for another character than U+0000.
  private var pending: UInt32 = 0
  private var pendingCount = 0

  init(_ text: SourceText, _ range: Range<Int>) {
    self.text = text
    (position, end) = (range.lowerBound, range.upperBound)
  }

  /// - Parameter offset: The place of the letter behind the backslash.
  static func isEscape(at offset: Int, _ text: SourceText) throws -> Bool {
    switch text[offset] {
    case UInt8(ascii: "u"): hexadecimal(at: offset + 1, text) != nil
    case let letter: simple(letter) != nil
    }
  }

  private static func simple(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: nil
    }
  }

  private static func hexadecimal(at offset: Int, _ text: SourceText) -> UInt32? {
    guard offset + 4 <= text.count else { return nil }
    return (offset..<offset + 4).reduce(UInt32?(0)) { number, offset in
      guard let number, let digit = SourceText.digit(text[offset]) else { return nil }
      return number << 4 | UInt32(digit)
    }
  }

  mutating func next() -> UInt8? {
    if pendingCount > 0 { return nextPending() }
    guard position < end else { return nil }
    let byte = text[position]
    position += 1
    guard byte == UInt8(ascii: "\\") else { return byte }
    let letter = text[position]
    position += 1
    guard letter == UInt8(ascii: "u") else { return Self.simple(letter) }
    for byte in UTF8.encode(character()) ?? UTF8.encodedReplacementCharacter {
      pending |= UInt32(byte) << (8 * UInt32(pendingCount))
      pendingCount += 1
    }
    return nextPending()
  }

  private mutating func nextPending() -> UInt8 {
    defer { (pending, pendingCount) = (pending >> 8, pendingCount - 1) }
    return UInt8(truncatingIfNeeded: pending)
  }

  /// Half of a pair without the other half becomes U+FFFD.
  private mutating func character() -> Unicode.Scalar {
    let first = Self.hexadecimal(at: position, text) ?? 0xFFFD
    position += 4
    guard (0xD800...0xDBFF).contains(first), text.holds("\\u", at: position), position + 6 <= end,
      let second = Self.hexadecimal(at: position + 2, text), (0xDC00...0xDFFF).contains(second)
    else { return Unicode.Scalar(first) ?? "\u{FFFD}" }
    position += 6
    return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)) ?? "\u{FFFD}"
  }
}
