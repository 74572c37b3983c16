/// A row of `rec`, as it lies in the file: sealed fields, and a clear but bound header.
public struct SealedRecord: Equatable, Sendable {
  /// The length of `meta` in bytes.
  public static let metaByteCount = 16
  /// The largest sealed field in bytes: nonce, authenticator and 1 MiB of plaintext with its padding.
  public static let maximumFieldByteCount = 40 + (1 << 20) + 4096

  public let id: Identifier
  public let group: Identifier
  public let meta: [UInt8]
  public let attributes: [UInt8]
  public let secret: [UInt8]

  public init(id: Identifier, group: Identifier, meta: [UInt8], attributes: [UInt8], secret: [UInt8]) {
    self.id = id
    self.group = group
    self.meta = meta
    self.attributes = attributes
    self.secret = secret
  }
}
