import CSodium
package import SecretMemory

/// 32 secret bytes: a key of BLAKE2b, secretbox, or both.
package struct Key: ~Copyable, Sendable {
  package static let byteCount = 32

  package let secret: Secret

  package static func random() throws(VaultError) -> Key { Key(unchecked: try .random(count: byteCount)) }

  /// Nil unless there are exactly 32 bytes.
  package init?(_ secret: consuming Secret) {
    guard secret.count == Self.byteCount else { return nil }
    self.secret = secret
  }

  /// - Throws: `memoryNotLockable`, `outOfMemory`.
  package borrowing func duplicate() throws(VaultError) -> Key { Key(unchecked: try secret.duplicate()) }

  private init(unchecked secret: consuming Secret) {
    self.secret = secret
  }

  /// KDF(self, label, context) of the format, as a key.
  package borrowing func derive(_ context: Context) throws(VaultError) -> Key {
    unsafe try hash(context.bytes.span.bytes)
  }

  /// KDF(self, label, context) of the format, as a digest that need not stay secret.
  package borrowing func digest(_ context: Context) -> Digest {
    var digest = [UInt8](repeating: 0, count: Digest.byteCount)
    let status = unsafe secret.withPointer { key in
      // BLAKE2b leaves the key on the stack, as part of what it hashes.
      defer { sodium_stackzero(Sodium.stackByteCount) }
      return unsafe crypto_generichash(&digest, Digest.byteCount, context.bytes, UInt64(context.bytes.count), key, Self.byteCount)
    }
    precondition(status == 0, "only a wrong length makes it fail")
    return Digest(unchecked: digest)
  }

  /// H(self, message) of the format: keyed BLAKE2b-256.
  borrowing func hash(_ message: RawSpan) throws(VaultError) -> Key {
    try secret.withBytes { (key) throws(VaultError) in try Key.hash(message, key: key) }
  }

  /// BLAKE2b-256 of bytes that are secret themselves.
  /// - Parameter key: 32 bytes; empty for the unkeyed hash.
  package static func hash(_ message: RawSpan, key: RawSpan = RawSpan()) throws(VaultError) -> Key {
    var output = try Secret(count: byteCount)
    let keyByteCount = key.byteCount
    let status = unsafe output.withMutablePointer { output in
      unsafe message.withPointer { bytes in
        unsafe key.withPointer { key in
          defer { sodium_stackzero(Sodium.stackByteCount) }
          return unsafe crypto_generichash(output, byteCount, bytes, UInt64(message.byteCount), key, keyByteCount)
        }
      }
    }
    precondition(status == 0, "only a wrong length makes it fail")
    return Key(unchecked: output)
  }
}
