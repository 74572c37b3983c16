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
    message.withBytes { message in
      unsafe message.withUnsafeBytes { unsafe write(&code, &context, $0, key) }
    }
    return code
  }

  /// The code of a public message.
  /// - Throws: as `Secret(count:)`.
  package func code(ofPublic message: [UInt8], key: borrowing Secret) throws(VaultError) -> Secret {
    var context = try Secret(count: coffer_hmac_context_size())
    var code = try Secret(count: byteCount)
    unsafe message.withUnsafeBytes { unsafe write(&code, &context, $0, key) }
    return code
  }

  private func write(
    _ code: inout Secret, _ context: inout Secret, _ message: UnsafeRawBufferPointer, _ key: borrowing Secret
  ) {
    let hash: coffer_hmac_hash =
      switch self {
      case .sha1: COFFER_HMAC_SHA1
      case .sha256: COFFER_HMAC_SHA256
      case .sha512: COFFER_HMAC_SHA512
      }
    key.withBytes { key in
      context.withMutableBytes { context in
        code.withMutableBytes { code in
          unsafe key.withUnsafeBytes { key in
            unsafe context.withUnsafeMutableBytes { context in
              unsafe code.withUnsafeMutableBytes { code in
                unsafe coffer_hmac(
                  hash, context.baseAddress, key.baseAddress, key.count, message.baseAddress, message.count, code.baseAddress,
                  code.count)
              }
            }
          }
        }
      }
    }
  }

  /// SHA-256 of public bytes.
  package static func digest(ofPublic message: [UInt8]) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
      unsafe coffer_sha256(message, message.count, buffer.baseAddress)
      count = 32
    }
  }
}
