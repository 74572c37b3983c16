internal import SecretMemory
internal import VaultCore

/// The end of the chain: the number and the digest of an entry.
package struct AuditChain: Equatable, Sendable {
  package static let byteCount = ContentDigest.byteCount
  /// The maximum number of an entry, and the maximum length of a file. Larger numbers, which only a forger writes, are refused
  /// when they are read, so that adding one never overflows.
  static let maximumNumber = UInt64(1) << 62
  /// Domain separation.
  private static let label = Array("coffer audit log 1\n".utf8)

  package let number: UInt64
  package let digest: [UInt8]

  /// The state before the first entry.
  static let start = AuditChain(number: 0, digest: [UInt8](repeating: 0, count: byteCount))

  package init(number: UInt64, digest: [UInt8]) {
    self.number = number
    self.digest = digest
  }

  /// `NUMBER:DIGEST`, to be stored outside of the log.
  package var text: String { "\(number):\(String(decoding: Hexadecimal.text(digest), as: UTF8.self))" }

  /// Returns nil if the text is not in this format.
  package init?(_ text: String) {
    let parts = Array(text.utf8).split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count == 2, let number = UInt64(String(decoding: parts[0], as: UTF8.self)),
      (1...Self.maximumNumber).contains(number),
      let digest = Hexadecimal.bytes(parts[1]), digest.count == Self.byteCount
    else { return nil }
    self.init(number: number, digest: digest)
  }

  /// BLAKE2b-256 of the label, the digest of the preceding entry, and the line up to its own digest.
  static func digest(after previous: [UInt8], _ content: [UInt8]) throws(VaultError) -> [UInt8] {
    var digest = try ContentDigest()
    digest.update(label)
    digest.update(previous)
    digest.update(content)
    return digest.finish()
  }

  /// The digest of bytes that are not an entry.
  static func digest(ofUnfinished bytes: [UInt8]) throws(VaultError) -> [UInt8] {
    var digest = try ContentDigest()
    digest.update(bytes)
    return digest.finish()
  }

  /// - Returns: The line with its end, and the chain including it.
  func line(_ entry: AuditEntry) throws(VaultError) -> (line: [UInt8], chain: AuditChain) {
    let content = AuditLine.content(entry, number: number + 1)
    let digest = try Self.digest(after: self.digest, content)
    return (content + Hexadecimal.text(digest) + [AuditLine.end], AuditChain(number: number + 1, digest: digest))
  }
}
