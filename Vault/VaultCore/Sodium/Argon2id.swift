import CSodium
import SecretMemory

enum Argon2id {
  static let saltByteCount = 16

  /// Argon2id version 1.3 with one lane. Takes `parameters.memoryKiB` of ordinary memory for as long as it runs.
  /// - Throws: `outOfMemory`.
  static func hash(_ passphrase: borrowing Secret, salt: [UInt8], _ parameters: KDFParameters) throws(VaultError) -> Key {
    precondition(salt.count == saltByteCount)
    var output = try Secret(count: Key.byteCount)
    let count = passphrase.count
    let status = unsafe passphrase.withPointer { bytes in
      unsafe output.withMutablePointer { output in
        unsafe UnsafeRawPointer(bytes).withMemoryRebound(to: CChar.self, capacity: count) { bytes in
          unsafe crypto_pwhash(
            output, UInt64(Key.byteCount), bytes, UInt64(count), salt, UInt64(parameters.iterations),
            Int(parameters.memoryKiB) << 10, crypto_pwhash_ALG_ARGON2ID13)
        }
      }
    }
    guard status == 0, let key = Key(output) else {
      throw VaultError(.outOfMemory, "the key derivation needs \(parameters.memoryKiB) KiB")
    }
    return key
  }
}
