internal import TextEncodings

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
