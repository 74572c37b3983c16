internal import SecretMemory

/// A JSON object (RFC 8259) of which all values are strings, in locked memory.
struct JSONStrings: ~Copyable {
  private let bytes: Secret
  /// The values as they are written, between their quotes.
  private var values: [String: Range<Int>] = [:]
  private var next = 0

  /// - Parameter names: The members that there may be, as they are written without escapes.
  /// - Throws: `notJSON`, `memberUnknown`, `memberTwice`, `memberNotText`.
  init(parsing message: consuming Secret, names: [String]) throws(CredentialError) {
    bytes = message
    try take("{")
    if !takes("}") {
      repeat { try takeMember(of: names) } while takes(",")
      try take("}")
    }
    skipBlanks()
    guard next == bytes.count else { throw broken() }
  }

  private mutating func takeMember(of names: [String]) throws(CredentialError) {
    let name = try string()
    guard let known = names.first(where: { bytes.holds($0, in: name) }) else {
      throw CredentialError(.memberUnknown, "byte \(name.lowerBound + 1)")
    }
    try take(":")
    skipBlanks()
    guard peek() == UInt8(ascii: "\"") else { throw CredentialError(.memberNotText, known) }
    guard try values.updateValue(string(), forKey: known) == nil else { throw CredentialError(.memberTwice, known) }
  }

  private borrowing func broken() -> CredentialError { CredentialError(.notJSON, "byte \(next + 1)") }

  private borrowing func peek() -> UInt8? { next < bytes.count ? bytes.byte(at: next) : nil }

  private mutating func skipBlanks() {
    while let byte = peek(), [0x20, 0x09, 0x0A, 0x0D].contains(byte) { next += 1 }
  }

  private mutating func takes(_ mark: Unicode.Scalar) -> Bool {
    skipBlanks()
    guard peek() == UInt8(ascii: mark) else { return false }
    next += 1
    return true
  }

  private mutating func take(_ mark: Unicode.Scalar) throws(CredentialError) {
    guard takes(mark) else { throw broken() }
  }

  /// Takes a string, and returns the range between its quotes. The escapes are looked at when it is decoded.
  private mutating func string() throws(CredentialError) -> Range<Int> {
    try take("\"")
    let start = next
    while let byte = peek(), byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { throw broken() }
      next += byte == UInt8(ascii: "\\") ? 2 : 1
    }
    guard next < bytes.count else { throw CredentialError(.notJSON, "byte \(bytes.count + 1)") }
    next += 1
    return start..<next - 1
  }

  /// The text of a member, in UTF-8 as far as the message is. Empty if there is no such member.
  /// - Throws: `notJSON`, for an escape that there is not; as `Secret(count:)`.
  borrowing func secret(_ name: String) throws -> Secret {
    guard let range = values[name] else { return try Secret(count: 0) }
    // An escape is longer than the character.
    var text = try Secret(count: range.count)
    var count = 0
    var offset = range.lowerBound
    while offset < range.upperBound {
      let byte = bytes.byte(at: offset)
      guard byte == UInt8(ascii: "\\") else {
        text.write(byte, at: count)
        (offset, count) = (offset + 1, count + 1)
        continue
      }
      let scalar = try escape(&offset, range.upperBound)
      for unit in UTF8.encode(scalar)! {
        text.write(unit, at: count)
        count += 1
      }
    }
    text.truncate(to: count)
    return text
  }

  private borrowing func escape(_ offset: inout Int, _ end: Int) throws(CredentialError) -> Unicode.Scalar {
    let start = offset
    offset += 2
    switch bytes.byte(at: start + 1) {
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case let mark where "\"\\/".utf8.contains(mark): return Unicode.Scalar(mark)
    case UInt8(ascii: "u"): break
    default: throw CredentialError(.notJSON, "byte \(start + 1)")
    }
    let first = hexadecimal(offset, end)
    offset += 4
    if let first, let scalar = Unicode.Scalar(first) { return scalar }
    // The two halves of a character beyond the first 65,536.
    let isPair = offset + 1 < end && bytes.holds("\\u", in: offset..<offset + 2)
    guard let first, (0xD800..<0xDC00).contains(first), isPair, let second = hexadecimal(offset + 2, end),
      (0xDC00..<0xE000).contains(second), let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    else { throw CredentialError(.notJSON, "byte \(start + 1)") }
    offset += 6
    return scalar
  }

  private borrowing func hexadecimal(_ start: Int, _ end: Int) -> UInt32? {
    guard start + 4 <= end else { return nil }
    var value: UInt32 = 0
    for offset in start..<start + 4 {
      let byte = bytes.byte(at: offset)
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte - 0x30)
      case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
        value = value << 4 | (UInt32(byte | 0x20) - 0x57)
      default: return nil
      }
    }
    return value
  }
}
