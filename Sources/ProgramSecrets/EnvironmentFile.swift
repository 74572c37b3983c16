/// A file of variables, `NAME=value` in each line, as many tools read it. Nothing in it is expanded, so each value arrives byte for byte.
package struct EnvironmentFile: Sendable {
  package struct Assignment: Sendable {
    package let name: String
    package let value: SecretText
    /// Where the name begins, in bytes.
    package let offset: Int
  }

  package private(set) var assignments: [Assignment] = []

  package init(_ bytes: [UInt8]) throws(TextError) {
    if let zero = bytes.firstIndex(of: 0) { throw TextError(.zeroByte, at: zero) }
    var reader = EnvironmentFileReader(bytes)
    while let assignment = try reader.next() { assignments.append(assignment) }
  }
}

/// Reads the assignments one after the other.
private struct EnvironmentFileReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

  private static let lineFeed = UInt8(ascii: "\n")
  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

  mutating func next() throws(TextError) -> EnvironmentFile.Assignment? {
    skipToText()
    guard position < bytes.count else { return nil }
    let start = position
    let name = try readName()
    skipBlanks()
    do {
      return EnvironmentFile.Assignment(name: name, value: try SecretText(value: try readValue(from: start)), offset: start)
    } catch {
      // A place within the value is none in the file, because of escapes and quotes.
      throw TextError(error.code, at: start, error.detail)
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
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  // MARK: Values

  private mutating func readValue(from start: Int) throws(TextError) -> [UInt8] {
    switch byte {
    case UInt8(ascii: "'"): try readQuoted(UInt8(ascii: "'"), from: start)
    case UInt8(ascii: "\""): try readQuoted(UInt8(ascii: "\""), from: start)
    default: readPlain()
    }
  }

  /// Up to the end of the line, or to a comment.
  private mutating func readPlain() -> [UInt8] {
    let start = position
    while let byte, byte != Self.lineFeed {
      if byte == UInt8(ascii: "#"), position == start || Self.isBlank(bytes[position - 1]) { break }
      position += 1
    }
    var value = bytes[start..<position]
    while let last = value.last, Self.isBlank(last) { value.removeLast() }
    skipLine()
    return Array(value)
  }

  private mutating func readQuoted(_ quote: UInt8, from start: Int) throws(TextError) -> [UInt8] {
    position += 1
    var value: [UInt8] = []
    while let byte {
      position += 1
      if byte == quote {
        try checkRest(from: start)
        return value
      }
      value.append(byte == UInt8(ascii: "\\") && quote == UInt8(ascii: "\"") ? try readEscape(from: start) : byte)
    }
    throw TextError(.quoteOpen, at: start)
  }

  private mutating func readEscape(from start: Int) throws(TextError) -> UInt8 {
    let escaped = byte
    position += 1
    switch escaped {
    case UInt8(ascii: "n"): return 0x0A
    case UInt8(ascii: "t"): return 0x09
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"): return escaped ?? 0
    default: throw TextError(.escapeUnknown, at: start)
    }
  }

  private mutating func checkRest(from start: Int) throws(TextError) {
    skipBlanks()
    guard byte == nil || byte == Self.lineFeed || byte == UInt8(ascii: "#") else { throw TextError(.textAfterQuote, at: start) }
    skipLine()
  }
}

package enum VariableName {
  /// As a shell takes it.
  package static func isIdentifier(_ name: String) -> Bool {
    let bytes = name.utf8
    guard let first = bytes.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
    return bytes.allSatisfy { byte in
      byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
  }
}
