import CofferConsole

/// The %XX of URIs.
enum PercentEncoding {
  /// - Throws: usage, for a % without two hexadecimal digits, and for what decodes to something that is not UTF-8.
  static func decode(_ text: Substring) throws(Failure) -> String {
    var bytes: [UInt8] = []
    var source = text.utf8.makeIterator()
    while let byte = source.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = source.next().flatMap(digit), let low = source.next().flatMap(digit) else {
        throw .usage("name \"\(text)\": a % needs two hexadecimal digits", hint: "a percent sign itself is written %25")
      }
      bytes.append(high << 4 | low)
    }
    guard let decoded = String(validating: bytes, as: UTF8.self) else {
      throw .usage("name \"\(text)\": does not decode to UTF-8")
    }
    return decoded
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
