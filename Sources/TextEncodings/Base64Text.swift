/// RFC 4648 base64 of bytes that are no secret. `ProgramSecrets` has that of secrets.
package enum Base64Text {
  private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  package static func encode(_ bytes: [UInt8]) -> String {
    var output: [UInt8] = []
    output.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
      for position in 0..<4 {
        output.append(position <= group.count ? letters[Int(bits >> UInt32(18 - 6 * position) & 63)] : UInt8(ascii: "="))
      }
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// Returns nil for anything but what `encode` writes.
  package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    var (output, bits, count): ([UInt8], UInt32, Int) = ([], 0, 0)
    for byte in text.reversed().drop(while: { $0 == UInt8(ascii: "=") }).reversed() {
      guard let value = values[byte] else { return nil }
      (bits, count) = (bits << 6 | UInt32(value), count + 6)
      guard count >= 8 else { continue }
      count -= 8
      output.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
    }
    return encode(output).utf8.elementsEqual(text) ? output : nil
  }

  private static let values = Dictionary(uniqueKeysWithValues: zip(letters, 0..<64))
}
