internal import VaultCore

/// The end of the chain: the number of an entry, and its digest.
package struct AuditChain: Equatable, Sendable {
  package static let byteCount = ContentDigest.byteCount
  /// No log has as many entries. A larger number, and the length of a file that is larger, nobody but a forger has written: it is refused
  /// where it is read, so that one can be added to any other.
  static let maximumNumber = UInt64(1) << 62
  /// So that the digest of an entry is that of nothing else.
  private static let label = Array("coffer audit log 1\n".utf8)

  package let number: UInt64
  package let digest: [UInt8]

  /// Before the first entry.
  static let start = AuditChain(number: 0, digest: [UInt8](repeating: 0, count: byteCount))

  package init(number: UInt64, digest: [UInt8]) {
    self.number = number
    self.digest = digest
  }

  /// `NUMBER:DIGEST`, to be kept elsewhere.
  package var text: String { "\(number):\(String(decoding: Hexadecimal.text(digest), as: UTF8.self))" }

  /// Nil where the text is none.
  package init?(_ text: String) {
    let parts = Array(text.utf8).split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count == 2, let number = UInt64(String(decoding: parts[0], as: UTF8.self)),
      (1...Self.maximumNumber).contains(number),
      let digest = Hexadecimal.bytes(parts[1]), digest.count == Self.byteCount
    else { return nil }
    self.init(number: number, digest: digest)
  }

  /// BLAKE2b-256 of the label, the digest of the entry before, and the line up to its own digest.
  static func digest(after previous: [UInt8], _ content: [UInt8]) throws(VaultError) -> [UInt8] {
    var digest = try ContentDigest()
    digest.update(label)
    digest.update(previous)
    digest.update(content)
    return digest.finish()
  }

  /// Of bytes that are no entry.
  static func digest(ofUnfinished bytes: [UInt8]) throws(VaultError) -> [UInt8] {
    var digest = try ContentDigest()
    digest.update(bytes)
    return digest.finish()
  }

  /// - Returns: the line with its end, and the chain with it.
  func line(_ entry: AuditEntry) throws(VaultError) -> (line: [UInt8], chain: AuditChain) {
    let content = AuditLine.content(entry, number: number + 1)
    let digest = try Self.digest(after: self.digest, content)
    return (content + Hexadecimal.text(digest) + [AuditLine.end], AuditChain(number: number + 1, digest: digest))
  }
}
