/// A public key as ssh-keygen(1) writes it: the type, the key in base64, the comment. A line of a file with the ending `.pub`.
package struct PublicKeyLine: Equatable, Sendable {
  package let identity: Identity

  /// The type stands at the beginning of the key. Returns nil for bytes that do not begin so.
  package init?(_ identity: Identity) {
    guard Self.type(of: identity.key) != nil else { return nil }
    self.identity = identity
  }

  /// Returns nil if it is not one.
  package init?(parsing line: [UInt8]) {
    let end = line.firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } ?? line.endIndex
    let fields = line[..<end].split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: true)
    guard fields.count >= 2, let key = Base64Text.decode(fields[1]), let type = Self.type(of: key),
      type.utf8.elementsEqual(fields[0])
    else { return nil }
    identity = Identity(key: key, comment: fields.count > 2 ? Array(fields[2]) : [])
  }

  private static func type(of key: [UInt8]) -> String? {
    var reader = WireReader(key)
    guard let type = reader.string(), !type.isEmpty, type.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
    return String(decoding: type, as: UTF8.self)
  }

  package var type: String { Self.type(of: identity.key) ?? "" }
  package var isCertificate: Bool { type.hasSuffix("-cert-v01@openssh.com") }
  package var comment: String { String(decoding: identity.comment, as: UTF8.self) }

  /// Without a line end. Control characters of the comment, which would begin another line, become blanks.
  package var text: String {
    let comment = identity.comment.map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: " ") : $0 }
    return ([type, Base64Text.encode(identity.key)] + (comment.isEmpty ? [] : [String(decoding: comment, as: UTF8.self)]))
      .joined(separator: " ")
  }
}

/// RFC 4648 base64 of public keys.
enum Base64Text {
  private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func encode(_ bytes: [UInt8]) -> String {
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
  static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
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
