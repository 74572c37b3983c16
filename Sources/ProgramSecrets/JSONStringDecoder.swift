/// The bytes of a JSON string, without its escapes.
struct JSONStringDecoder<Text: TextBytes> {
  private let text: Text
  private let end: Int
  private var position: Int
  /// The rest of a character that stands as an escape, the next byte lowest.
  private var pending: UInt32 = 0
  private var pendingCount = 0

  /// - Parameter range: The text between the quotes, of which each escape is one.
  init(_ text: Text, _ range: Range<Int>) {
    self.text = text
    (position, end) = (range.lowerBound, range.upperBound)
  }

  /// The length of the escape at a backslash, in bytes: two of them for a pair that is one character. Returns nil if it is none.
  static func escape(at offset: Int, _ text: Text) -> Int? {
    guard offset + 1 < text.count else { return nil }
    guard text[offset + 1] == UInt8(ascii: "u") else { return simple(text[offset + 1]) == nil ? nil : 2 }
    guard let (_, length) = character(at: offset, text) else { return nil }
    return length
  }

  /// Whether the backslash begins one half of a pair.
  static func isHalf(at offset: Int, _ text: Text) -> Bool {
    guard offset + 1 < text.count, text[offset + 1] == UInt8(ascii: "u"), let unit = hexadecimal(at: offset + 2, text) else {
      return false
    }
    return (0xD800...0xDFFF).contains(unit)
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

  /// Returns nil unless four hexadecimal digits follow.
  private static func hexadecimal(at offset: Int, _ text: Text) -> UInt32? {
    guard offset + 4 <= text.count else { return nil }
    var number: UInt32 = 0
    for index in offset..<offset + 4 {
      switch text[index] {
      case let byte where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte): number = number << 4 | UInt32(byte - 0x30)
      case let byte where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20):
        number = number << 4 | UInt32((byte | 0x20) - 0x57)
      default: return nil
      }
    }
    return number
  }

  /// The character of the escape at a backslash before `u`, and the length of all its parts.
  private static func character(at offset: Int, _ text: Text) -> (Unicode.Scalar, Int)? {
    guard let first = hexadecimal(at: offset + 2, text) else { return nil }
    if let scalar = Unicode.Scalar(first) { return (scalar, 6) }
    guard (0xD800...0xDBFF).contains(first), offset + 7 < text.count, text[offset + 6] == UInt8(ascii: "\\"),
      text[offset + 7] == UInt8(ascii: "u"), let second = hexadecimal(at: offset + 8, text),
      (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { return nil }
    return (scalar, 12)
  }

  mutating func next() -> UInt8? {
    if pendingCount > 0 { return nextPending() }
    guard position < end else { return nil }
    let byte = text[position]
    guard byte == UInt8(ascii: "\\") else {
      position += 1
      return byte
    }
    guard text[position + 1] == UInt8(ascii: "u"), let (scalar, length) = Self.character(at: position, text) else {
      defer { position += 2 }
      return Self.simple(text[position + 1])
    }
    position += length
    for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
      pending |= UInt32(byte) << (8 * UInt32(pendingCount))
      pendingCount += 1
    }
    return nextPending()
  }

  private mutating func nextPending() -> UInt8 {
    defer { (pending, pendingCount) = (pending >> 8, pendingCount - 1) }
    return UInt8(truncatingIfNeeded: pending)
  }
}
