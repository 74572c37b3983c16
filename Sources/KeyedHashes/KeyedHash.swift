internal import CNettle
package import SecretMemory

/// HMAC (RFC 2104) by nettle. Key, state and result are in locked memory.
package enum KeyedHash: String, CaseIterable, Sendable {
  case sha1, sha256, sha512

  /// The length of a code, in bytes.
  package var byteCount: Int {
    switch self {
    case .sha1: 20
    case .sha256: 32
    case .sha512: 64
    }
  }

  /// - Throws: as `Secret(count:)`.
  package func code(of message: borrowing Secret, key: borrowing Secret) throws(VaultError) -> Secret {
    var context = try Secret(count: coffer_hmac_context_size())
    var code = try Secret(count: byteCount)
    let hash: coffer_hmac_hash =
      switch self {
      case .sha1: COFFER_HMAC_SHA1
      case .sha256: COFFER_HMAC_SHA256
      case .sha512: COFFER_HMAC_SHA512
      }
    key.withBytes { key in
      message.withBytes { message in
        context.withMutableBytes { context in
          code.withMutableBytes { code in
            unsafe key.withUnsafeBytes { key in
              unsafe message.withUnsafeBytes { message in
                unsafe context.withUnsafeMutableBytes { context in
                  unsafe code.withUnsafeMutableBytes { code in
                    unsafe coffer_hmac(
                      hash, context.baseAddress, key.baseAddress, key.count, message.baseAddress, message.count,
                      code.baseAddress, code.count)
                  }
                }
              }
            }
          }
        }
      }
    }
    return code
  }
}
