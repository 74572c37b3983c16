import CSodium

/// 32 bytes of BLAKE2b that need not stay secret. Compared in constant time: a digest is an authenticator as well.
package struct Digest: Equatable, Sendable {
  package static let byteCount = 32
  package static let zero = Digest(unchecked: [UInt8](repeating: 0, count: byteCount))

  package let bytes: [UInt8]

  /// Nil unless there are exactly 32 bytes.
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = [UInt8](bytes)
  }

  init(unchecked bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The first 16 bytes, as a name.
  package var identifier: Identifier { Identifier(bytes.prefix(16)) ?? .zero }

  /// Unkeyed BLAKE2b of 16 to 64 bytes, of what is no secret.
  package static func hash(_ message: [UInt8], byteCount: Int) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: byteCount)
    let status = unsafe crypto_generichash(&digest, byteCount, message, UInt64(message.count), nil, 0)
    precondition(status == 0, "only a wrong length makes it fail")
    return digest
  }

  package static func == (left: Digest, right: Digest) -> Bool {
    unsafe left.bytes.withUnsafeBytes { left in
      unsafe right.bytes.withUnsafeBytes { right in
        unsafe sodium_memcmp(left.baseAddress, right.baseAddress, byteCount) == 0
      }
    }
  }
}
