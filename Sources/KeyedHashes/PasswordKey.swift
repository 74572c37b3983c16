internal import CArgon2
internal import CNettle
package import SecretMemory

/// Keys from passwords, as other programs derive them. The result is in locked memory; the work memory of Argon2id is not, and the library
/// overwrites it.
package enum PasswordKey {
  package static let byteCount = 32

  /// PBKDF2 with HMAC-SHA256 (RFC 8018), by nettle.
  /// - Throws: as `Secret(count:)`.
  package static func pbkdf2(_ password: borrowing Secret, salt: [UInt8], iterations: UInt32) throws(VaultError) -> Secret {
    var context = try Secret(count: coffer_hmac_context_size())
    var key = try Secret(count: byteCount)
    password.withBytes { password in
      context.withMutableBytes { context in
        key.withMutableBytes { key in
          unsafe password.withUnsafeBytes { password in
            unsafe context.withUnsafeMutableBytes { context in
              unsafe key.withUnsafeMutableBytes { key in
                unsafe coffer_pbkdf2(
                  context.baseAddress, password.baseAddress, password.count, salt, salt.count, iterations, key.baseAddress,
                  key.count)
              }
            }
          }
        }
      }
    }
    return key
  }

  /// Argon2id (RFC 9106), by its reference library. Returns nil if there is not so much memory.
  /// - Parameter kibibytes: At least 8 for each lane.
  /// - Throws: as `Secret(count:)`.
  package static func argon2id(
    _ password: borrowing Secret, salt: [UInt8], iterations: UInt32, kibibytes: UInt32, lanes: UInt32
  ) throws(VaultError) -> Secret? {
    var key = try Secret(count: byteCount)
    let result = password.withBytes { password in
      key.withMutableBytes { key in
        unsafe password.withUnsafeBytes { password in
          unsafe key.withUnsafeMutableBytes { key in
            unsafe argon2id_hash_raw(
              iterations, kibibytes, lanes, password.baseAddress, password.count, salt, salt.count, key.baseAddress, key.count)
          }
        }
      }
    }
    guard result == ARGON2_OK.rawValue else { return nil }
    return key
  }
}
