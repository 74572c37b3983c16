import CSodium
package import SecretMemory

/// Signatures of Ed25519, as RFC 8032 has them. libsodium refuses public keys of small order and signatures that are not canonical.
package enum Ed25519 {
  package static let publicKeyByteCount = 32
  package static let seedByteCount = 32
  package static let signatureByteCount = 64

  /// Both halves of a key.
  package struct KeyPair: ~Copyable, Sendable {
    package let publicKey: [UInt8]
    private let secret: Secret

    /// - Parameter seed: of 32 bytes.
    package init(seed: borrowing Secret) throws(VaultError) {
      precondition(seed.count == seedByteCount)
      var publicKey = [UInt8](repeating: 0, count: publicKeyByteCount)
      var secret = try Secret(count: Int(crypto_sign_SECRETKEYBYTES))
      let status = unsafe secret.withMutablePointer { secret in
        unsafe seed.withPointer { seed in unsafe crypto_sign_seed_keypair(&publicKey, secret, seed) }
      }
      precondition(status == 0, "it cannot fail")
      self.publicKey = publicKey
      self.secret = secret
    }

    package borrowing func sign(_ message: [UInt8]) -> [UInt8] {
      var signature = [UInt8](repeating: 0, count: signatureByteCount)
      let status = unsafe secret.withPointer { secret in
        unsafe crypto_sign_detached(&signature, nil, message, UInt64(message.count), secret)
      }
      precondition(status == 0, "it cannot fail")
      return signature
    }
  }

  /// - Parameter publicKey: of 32 bytes.
  package static func verifies(_ signature: [UInt8], of message: [UInt8], _ publicKey: [UInt8]) -> Bool {
    guard signature.count == signatureByteCount, publicKey.count == publicKeyByteCount else { return false }
    return unsafe crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
  }
}
