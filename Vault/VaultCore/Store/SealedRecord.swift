/// A row of `rec`, as it lies in the file: sealed fields, and a clear but bound header.
public struct SealedRecord: Equatable, Sendable {
  /// The record without its secret.
  public let head: RecordHead
  /// The column `s`.
  public let secret: [UInt8]

  /// A record from its columns.
  public init(id: Identifier, group: Identifier, meta: [UInt8], attributes: [UInt8], secret: [UInt8]) {
    let digest = Digest.hash(secret, byteCount: Digest.byteCount)
    head = RecordHead(
      id: id, group: group, meta: meta, attributes: attributes, secretDigest: digest, secretCount: secret.count)
    self.secret = secret
  }

  /// For a row whose digest need not be right.
  package init(_ head: RecordHead, secret: [UInt8]) { (self.head, self.secret) = (head, secret) }
}

/// A row of `rec` without its secret: all that the tree covers. The secret is covered by its digest. Section 9.1 of FORMAT.md.
public struct RecordHead: Equatable, Sendable {
  /// The length of `meta` in bytes.
  public static let metaByteCount = 16
  /// The length of `secretDigest` in bytes.
  public static let digestByteCount = Digest.byteCount
  /// The largest sealed field in bytes: nonce, authenticator and 1 MiB of plaintext with its padding.
  public static let maximumFieldByteCount = 40 + (1 << 20) + 4096

  /// The identifier, the primary key of the row.
  public let id: Identifier
  /// The identifier of the group.
  public let group: Identifier
  /// The clear metadata, to which the seals are bound.
  public let meta: [UInt8]
  /// The sealed attributes.
  public let attributes: [UInt8]
  /// The column `d`.
  public let secretDigest: [UInt8]
  /// The length of the column `s`.
  public let secretCount: Int

  /// A record from its columns, with the digest and length of its secret.
  public init(
    id: Identifier, group: Identifier, meta: [UInt8], attributes: [UInt8], secretDigest: [UInt8], secretCount: Int
  ) {
    (self.id, self.group, self.meta) = (id, group, meta)
    (self.attributes, self.secretDigest, self.secretCount) = (attributes, secretDigest, secretCount)
  }
}
