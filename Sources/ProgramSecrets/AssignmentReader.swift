/// The bytes of a text, wherever they lie.
package protocol TextBytes {
  var count: Int { get }
  subscript(offset: Int) -> UInt8 { get }
}

extension [UInt8]: TextBytes {}

/// Reads the assignments of a file of variables, one after the other, and copies no value.
package struct AssignmentReader<Text: TextBytes> {
  package struct Assignment: Sendable {
    package let name: String
    /// Where the name begins, in bytes.
    package let offset: Int
    /// The value between its quotes, as it was written.
    package let value: Range<Int>
    package let quote: UInt8?

    /// Hands on the value without its escapes.
    package func forEachByte<Failure: Error>(of text: Text, _ body: (UInt8) throws(Failure) -> Void) throws(Failure) {
      var offset = value.lowerBound
      while offset < value.upperBound {
        var byte = text[offset]
        if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
          offset += 1
          byte = AssignmentReader.escaped(text[offset]) ?? text[offset]
        }
        try body(byte)
        offset += 1
      }
    }
  }

  private let bytes: Text
  private var position = 0
  private let end: Int

  package init(_ bytes: Text) { self.init(bytes, in: 0..<bytes.count) }

  package init(_ bytes: Text, in range: Range<Int>) {
    self.bytes = bytes
    position = range.lowerBound
    end = range.upperBound
    // A byte order mark, which programs on Windows write.
    if position == 0, end >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { position = 3 }
  }

  private var byte: UInt8? { position < end ? bytes[position] : nil }

  private static var lineFeed: UInt8 { UInt8(ascii: "\n") }
  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

  package mutating func next() throws(TextError) -> Assignment? {
    skipToText()
    guard position < end else { return nil }
    let start = position
    let name = try readName()
    skipBlanks()
    switch byte {
    case UInt8(ascii: "'"): return try readQuoted(UInt8(ascii: "'"), name, from: start)
    case UInt8(ascii: "\""): return try readQuoted(UInt8(ascii: "\""), name, from: start)
    default: return readPlain(name, from: start)
    }
  }

  // MARK: Between values

  private mutating func skipBlanks() {
    while let byte, Self.isBlank(byte) { position += 1 }
  }

  private mutating func skipLine() {
    while let byte, byte != Self.lineFeed { position += 1 }
  }

  private mutating func skipToText() {
    while let byte {
      if byte == UInt8(ascii: "#") {
        skipLine()
      } else if Self.isBlank(byte) || byte == Self.lineFeed {
        position += 1
      } else {
        return
      }
    }
  }

  // MARK: Names

  private mutating func readName() throws(TextError) -> String {
    let start = position
    var name = word()
    if name == "export", let byte, Self.isBlank(byte) {
      skipBlanks()
      name = word()
    }
    guard byte == UInt8(ascii: "=") else { throw TextError(.assignmentMissing, at: start) }
    guard VariableName.isIdentifier(name) else { throw TextError(.nameNotAllowed, at: start) }
    position += 1
    return name
  }

  private mutating func word() -> String {
    let start = position
    while let byte, byte != UInt8(ascii: "="), byte != Self.lineFeed, !Self.isBlank(byte) { position += 1 }
    return String(decoding: (start..<position).map { bytes[$0] }, as: UTF8.self)
  }

  // MARK: Values

  /// Up to the end of the line, or to a comment.
  private mutating func readPlain(_ name: String, from offset: Int) -> Assignment {
    let start = position
    while let byte, byte != Self.lineFeed {
      if byte == UInt8(ascii: "#"), position == start || Self.isBlank(bytes[position - 1]) { break }
      position += 1
    }
    var end = position
    while end > start, Self.isBlank(bytes[end - 1]) { end -= 1 }
    skipLine()
    return Assignment(name: name, offset: offset, value: start..<end, quote: nil)
  }

  private mutating func readQuoted(_ quote: UInt8, _ name: String, from offset: Int) throws(TextError) -> Assignment {
    position += 1
    let start = position
    while let byte {
      position += 1
      if byte == quote {
        let end = position - 1
        try checkRest(from: offset)
        return Assignment(name: name, offset: offset, value: start..<end, quote: quote)
      }
      guard byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") else { continue }
      guard let escape = self.byte, Self.escaped(escape) != nil else { throw TextError(.escapeUnknown, at: offset) }
      position += 1
    }
    throw TextError(.quoteOpen, at: offset)
  }

  /// Returns nil if there is no such escape.
  private static func escaped(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "t"): 0x09
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"): byte
    default: nil
    }
  }

  private mutating func checkRest(from start: Int) throws(TextError) {
    skipBlanks()
    guard byte == nil || byte == Self.lineFeed || byte == UInt8(ascii: "#") else { throw TextError(.textAfterQuote, at: start) }
    skipLine()
  }
}
