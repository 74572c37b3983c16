import CSodium

/// The public half of a team's key (Ed25519).
public struct TeamKey: Hashable, Sendable {
  public static let byteCount = 32
  public let bytes: [UInt8]

  /// - Throws: `teamMalformed` unless there are 32 bytes.
  public init(_ bytes: [UInt8]) throws(VaultError) {
    guard bytes.count == Self.byteCount else { throw VaultError(.teamMalformed, "a public key has 32 bytes") }
    self.bytes = bytes
  }

  public var identifier: TeamIdentifier { TeamIdentifier(of: self) }

  /// Whether the team has signed the message. libsodium refuses keys of small order and signatures that are not canonical.
  func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    guard signature.count == Int(crypto_sign_BYTES) else { return false }
    return unsafe crypto_sign_verify_detached(signature, message, UInt64(message.count), bytes) == 0
  }
}

/// The secret half. Whoever has it can sign apps that get at all items of the team's groups.
public struct TeamSigningKey: ~Copyable, Sendable {
  /// Bytes of what is kept in a file: the seed, from which both halves come.
  public static let seedByteCount = 32

  public let publicKey: TeamKey
  private let seed: Secret
  private let secret: Secret

  /// A new team.
  /// - Throws: as `Secret`.
  public static func random() throws(VaultError) -> TeamSigningKey {
    try TeamSigningKey(seed: .random(count: seedByteCount))
  }

  /// - Throws: `teamMalformed` unless there are 32 bytes; as `Secret`.
  public init(seed: consuming Secret) throws(VaultError) {
    guard seed.count == Self.seedByteCount else { throw VaultError(.teamMalformed, "a signing key has 32 bytes") }
    var publicKey = [UInt8](repeating: 0, count: TeamKey.byteCount)
    var secret = try Secret(count: Int(crypto_sign_SECRETKEYBYTES))
    let status = unsafe secret.withMutablePointer { secret in
      unsafe seed.withPointer { seed in unsafe crypto_sign_seed_keypair(&publicKey, secret, seed) }
    }
    precondition(status == 0, "it cannot fail")
    self.publicKey = try TeamKey(publicKey)
    self.seed = seed
    self.secret = secret
  }

  /// For the file that keeps it.
  /// - Throws: as `Secret`.
  public borrowing func copySeed() throws(VaultError) -> Secret { try seed.duplicate() }

  borrowing func sign(_ message: [UInt8]) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: Int(crypto_sign_BYTES))
    let status = unsafe secret.withPointer { secret in
      unsafe crypto_sign_detached(&signature, nil, message, UInt64(message.count), secret)
    }
    precondition(status == 0, "it cannot fail")
    return signature
  }
}
