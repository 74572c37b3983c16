import CSodium
package import SecretMemory

/// BOX of the format: a random nonce, then `crypto_secretbox_easy` (XSalsa20-Poly1305) of the padded field.
/// Section 1.3 of FORMAT.md.
package enum SecretBox {
  static let nonceByteCount = 24
  static let overhead = 40

  /// Seals without padding: what is sealed has a fixed length.
  static func sealUnpadded(_ message: borrowing Secret, nonce: [UInt8], key: borrowing Key) -> [UInt8] {
    precondition(nonce.count == nonceByteCount)
    var box = nonce + [UInt8](repeating: 0, count: message.count + 16)
    let count = message.count
    let status = unsafe message.withPointer { bytes in
      unsafe key.secret.withPointer { key in
        unsafe box.withUnsafeMutableBufferPointer { box in
          guard let output = box.baseAddress else { return Int32(-1) }
          return unsafe crypto_secretbox_easy(output + nonceByteCount, bytes, UInt64(count), output, key)
        }
      }
    }
    precondition(status == 0)
    return box
  }

  /// Opens a box whose plaintext is not padded.
  /// - Throws: `sealBroken`: another key, or other bytes.
  static func openUnpadded(_ box: [UInt8], key: borrowing Key) throws(VaultError) -> Secret {
    unsafe try openUnpadded(box.span.bytes, key: key)
  }

  private static func openUnpadded(_ box: RawSpan, key: borrowing Key) throws(VaultError) -> Secret {
    guard box.byteCount >= overhead else { throw VaultError(.sealBroken) }
    var message = try Secret(count: box.byteCount - overhead)
    let count = box.byteCount - nonceByteCount
    let status = unsafe message.withMutablePointer { message in
      unsafe key.secret.withPointer { key in
        unsafe box.withPointer { box in
          // libsodium leaves the first 32 bytes of what it opens on the stack. Here, and no further out, the stack is as deep as
          // when it was called.
          defer { sodium_stackzero(Sodium.stackByteCount) }
          return unsafe crypto_secretbox_open_easy(message, box + nonceByteCount, UInt64(count), box, key)
        }
      }
    }
    guard status == 0 else { throw VaultError(.sealBroken) }
    return message
  }

  /// The nonce is derived from 32 random bytes under the key itself, so that a generator that repeats (a restored snapshot of a
  /// virtual machine) repeats a nonce only for the same `hedge`.
  /// - Parameter random: 32 bytes that were drawn for this key alone, or for boxes under different keys.
  /// - Throws: `secretTooLarge`.
  package static func seal(
    _ message: borrowing Secret, key: borrowing Key, hedge: [UInt8] = [], random: [UInt8] = randomBytes(32)
  ) throws(VaultError) -> [UInt8] {
    var context = Context(.nonce)
    context.append(random)
    context.append(hedge)
    return sealUnpadded(try Padding.pad(message), nonce: Array(key.digest(context).bytes.prefix(nonceByteCount)), key: key)
  }

  /// - Throws: `sealBroken`, `paddingNotCanonical`.
  package static func open(_ box: [UInt8], key: borrowing Key) throws(VaultError) -> Secret {
    unsafe try open(box.span.bytes, key: key)
  }

  private static func open(_ box: RawSpan, key: borrowing Key) throws(VaultError) -> Secret {
    guard isBoxCount(box.byteCount) else { throw VaultError(.recordMalformed, "a sealed field has \(box.byteCount) bytes") }
    return try Padding.unpad(try openUnpadded(box, key: key))
  }

  // MARK: Boxes that are secret themselves

  /// The box of a class key leaves no copy in ordinary memory: there a device key, which lies in a file, would open it also when the
  /// vault is locked.
  package static func sealInside(_ message: borrowing Secret, key: borrowing Key) throws(VaultError) -> Secret {
    var box = try seal(message, key: key)
    defer { unsafe sodium_memzero(&box, box.count) }
    return try Secret(copying: box)
  }

  static func openInside(_ box: borrowing Secret, key: borrowing Key) throws(VaultError) -> Secret {
    try box.withBytes { (box) throws(VaultError) in try open(box, key: key) }
  }

  /// Whether a sealed field can have this length.
  package static func isBoxCount(_ count: Int) -> Bool { Padding.isPaddedCount(count - overhead) }

  package static func randomBytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    unsafe randombytes_buf(&bytes, count)
    return bytes
  }
}
