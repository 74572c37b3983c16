import CGcrypt
import MessageBus
import SecretMemory

/// The three things that are used of libgcrypt beside its numbers.
enum Gcrypt {
  private static let isStarted = coffer_gcrypt_start() != 0

  static func start() throws(BusError) {
    guard isStarted else { throw .failed("libgcrypt is older than the one that this program was built with") }
  }

  private static func check(_ result: UInt32) throws(BusError) {
    guard result == 0 else { throw .failed("libgcrypt: \(result & 0xFFFF)") }
  }

  /// HMAC-SHA256.
  static func authenticate(_ message: borrowing Secret, key: borrowing Secret) throws -> Secret {
    try start()
    var hash: OpaquePointer?
    try check(
      unsafe coffer_hash_open(&hash))
    guard let hash = unsafe hash else { throw BusError.failed("libgcrypt") }
    defer { unsafe coffer_hash_close(hash) }
    try check(
      key.withBytes { span in unsafe span.withUnsafeBytes { unsafe coffer_hash_key(hash, $0.baseAddress, $0.count) } })
    message.withBytes { span in unsafe span.withUnsafeBytes { unsafe coffer_hash_add(hash, $0.baseAddress, $0.count) } }
    guard let digest = unsafe coffer_hash_result(hash) else { throw BusError.failed("libgcrypt") }
    return try Secret(copying: unsafe RawSpan(_unsafeStart: digest, byteCount: 32))
  }

  static let blockByteCount = 16

  /// AES-128 in CBC, in place.
  static func crypt(_ text: inout Secret, key: borrowing Secret, start vector: borrowing Secret, encrypts: Bool) throws {
    try start()
    var cipher: OpaquePointer?
    // 7: AES128, 3: CBC, 1: locked memory. Swift does not import the first one.
    try check(unsafe gcry_cipher_open(&cipher, 7, 3, 1))
    guard let cipher = unsafe cipher else { throw BusError.failed("libgcrypt") }
    defer { unsafe gcry_cipher_close(cipher) }
    try check(
      key.withBytes { span in unsafe span.withUnsafeBytes { unsafe gcry_cipher_setkey(cipher, $0.baseAddress, $0.count) } })
    try check(
      vector.withBytes { span in unsafe span.withUnsafeBytes { unsafe gcry_cipher_setiv(cipher, $0.baseAddress, $0.count) } })
    try check(
      text.withMutableBytes { span in
        unsafe span.withUnsafeMutableBytes {
          unsafe encrypts
            ? gcry_cipher_encrypt(cipher, $0.baseAddress, $0.count, nil, 0)
            : gcry_cipher_decrypt(cipher, $0.baseAddress, $0.count, nil, 0)
        }
      })
  }
}
