import CSodium
package import SecretMemory
import VaultCore

/// Boxes for X25519 keys: `crypto_box` and `crypto_box_seal` of libsodium (XSalsa20-Poly1305).
package enum PublicKeyBox {
  package static let publicKeyByteCount = 32
  package static let seedByteCount = 32
  /// An ephemeral public key and an authenticator.
  package static let sealOverhead = 48
  private static let nonceByteCount = 24
  /// A nonce and an authenticator.
  package static let boxOverhead = 40

  /// Seals for a key, without an author.
  /// - Returns: nil for a key of small order, for which a seal would open to everybody.
  package static func seal(_ message: borrowing Secret, for publicKey: [UInt8]) -> [UInt8]? {
    guard publicKey.count == publicKeyByteCount else { return nil }
    var box = [UInt8](repeating: 0, count: message.count + sealOverhead)
    let count = message.count
    let status = unsafe message.withPointer { unsafe crypto_box_seal(&box, $0, UInt64(count), publicKey) }
    Sodium.wipeStack()
    return status == 0 ? box : nil
  }

  /// Whether one can seal for the key.
  package static func isUsable(_ publicKey: [UInt8]) -> Bool {
    guard publicKey.count == publicKeyByteCount else { return false }
    var shared = [UInt8](repeating: 0, count: publicKeyByteCount)
    let scalar = [UInt8](repeating: 1, count: publicKeyByteCount)
    return unsafe crypto_scalarmult(&shared, scalar, publicKey) == 0
  }

  /// Both halves of a key.
  package struct KeyPair: ~Copyable, Sendable {
    package let publicKey: [UInt8]
    private let secret: Secret

    /// - Parameter seed: of 32 bytes.
    package init(seed: borrowing Secret) throws(VaultError) {
      precondition(seed.count == seedByteCount)
      var publicKey = [UInt8](repeating: 0, count: publicKeyByteCount)
      var secret = try Secret(count: Int(crypto_box_SECRETKEYBYTES))
      let status = unsafe secret.withMutablePointer { secret in
        unsafe seed.withPointer { seed in unsafe crypto_box_seed_keypair(&publicKey, secret, seed) }
      }
      precondition(status == 0, "it cannot fail")
      Sodium.wipeStack()
      self.publicKey = publicKey
      self.secret = secret
    }

    /// - Returns: nil if the box was not sealed for this key, or was changed.
    package borrowing func openSealed(_ box: [UInt8]) throws(VaultError) -> Secret? {
      guard box.count >= sealOverhead else { return nil }
      var message = try Secret(count: box.count - sealOverhead)
      let status = unsafe message.withMutablePointer { message in
        unsafe secret.withPointer { unsafe crypto_box_seal_open(message, box, UInt64(box.count), publicKey, $0) }
      }
      Sodium.wipeStack()
      guard status == 0 else { return nil }
      return message
    }

    /// Seals with this key as the author: a random nonce, then `crypto_box_easy`.
    /// - Returns: nil for a key of small order.
    package borrowing func seal(_ message: borrowing Secret, to publicKey: [UInt8]) -> [UInt8]? {
      guard publicKey.count == publicKeyByteCount else { return nil }
      let nonce = SecretBox.randomBytes(nonceByteCount)
      var box = [UInt8](repeating: 0, count: message.count + boxOverhead - nonceByteCount)
      let count = message.count
      let status = unsafe message.withPointer { message in
        unsafe secret.withPointer { unsafe crypto_box_easy(&box, message, UInt64(count), nonce, publicKey, $0) }
      }
      Sodium.wipeStack()
      return status == 0 ? nonce + box : nil
    }

    /// - Returns: nil if the box is not from the owner of `publicKey` to this key, or was changed.
    package borrowing func open(_ box: [UInt8], from publicKey: [UInt8]) throws(VaultError) -> Secret? {
      guard box.count >= boxOverhead, publicKey.count == publicKeyByteCount else { return nil }
      var message = try Secret(count: box.count - boxOverhead)
      let (nonce, sealed) = (Array(box.prefix(nonceByteCount)), Array(box.dropFirst(nonceByteCount)))
      let status = unsafe message.withMutablePointer { message in
        unsafe secret.withPointer {
          unsafe crypto_box_open_easy(message, sealed, UInt64(sealed.count), nonce, publicKey, $0)
        }
      }
      Sodium.wipeStack()
      guard status == 0 else { return nil }
      return message
    }
  }
}
