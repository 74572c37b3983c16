public import SecretMemory
public import VaultCore

/// The public half of a team's key (Ed25519).
public struct TeamKey: Hashable, Sendable {
  /// The length of a key, in bytes.
  public static let byteCount = Ed25519.publicKeyByteCount
  /// The bytes of the Ed25519 public key.
  public let bytes: [UInt8]

  /// - Throws: `teamMalformed` unless there are 32 bytes.
  public init(_ bytes: [UInt8]) throws(VaultError) {
    guard bytes.count == Self.byteCount else { throw VaultError(.teamMalformed, "a public key has 32 bytes") }
    self.bytes = bytes
  }

  /// The identifier of the team, derived from the key.
  public var identifier: TeamIdentifier { TeamIdentifier(of: bytes) }
}

/// The secret half. With it, one can sign apps that can use all items of the team's groups.
public struct TeamSigningKey: ~Copyable, Sendable {
  /// Bytes of what is kept in a file: the seed, from which both halves come.
  public static let seedByteCount = Ed25519.seedByteCount

  /// The public key of the team.
  public let publicKey: TeamKey
  private let seed: Secret
  private let pair: Ed25519.KeyPair

  /// A new team.
  /// - Throws: as `Secret`.
  public static func random() throws(VaultError) -> TeamSigningKey {
    try TeamSigningKey(seed: .random(count: seedByteCount))
  }

  /// - Throws: `teamMalformed` unless there are 32 bytes; as `Secret`.
  public init(seed: consuming Secret) throws(VaultError) {
    guard seed.count == Self.seedByteCount else { throw VaultError(.teamMalformed, "a signing key has 32 bytes") }
    let pair = try Ed25519.KeyPair(seed: seed)
    publicKey = try TeamKey(pair.publicKey)
    self.seed = seed
    self.pair = pair
  }

  /// For the file that keeps it.
  /// - Throws: as `Secret`.
  public borrowing func copySeed() throws(VaultError) -> Secret { try seed.duplicate() }

  borrowing func sign(_ message: [UInt8]) -> [UInt8] { pair.sign(message) }
}
