internal import CNettle
package import SecretMemory

/// A message in AES-256-CBC with PKCS #7 padding, by nettle. The caller has checked its HMAC: a padding alone proves nothing.
package struct CBCMessage: ~Copyable {
  package static let blockByteCount = 16

  private var context: Secret
  private var vector: [UInt8]
  private let bytes: [UInt8]
  private var offset = 0

  /// Returns nil unless `vector` is a block, and `bytes` are blocks.
  /// - Parameter key: 32 bytes.
  /// - Throws: as `Secret(count:)`.
  package init?(_ bytes: [UInt8], vector: [UInt8], key: borrowing Secret) throws(VaultError) {
    var context = try Secret(count: coffer_aes_context_size())
    guard key.count == 32, vector.count == Self.blockByteCount, !bytes.isEmpty, bytes.count % Self.blockByteCount == 0 else {
      return nil
    }
    key.withBytes { key in
      context.withMutableBytes { context in
        unsafe key.withUnsafeBytes { key in
          unsafe context.withUnsafeMutableBytes { unsafe coffer_aes_set_key($0.baseAddress, key.baseAddress) }
        }
      }
    }
    self.context = context
    (self.bytes, self.vector) = (bytes, vector)
  }

  /// Decrypts the next bytes, without the padding.
  /// - Parameter buffer: Whole blocks.
  /// - Returns: how many; 0 at the end; nil, if the padding is none.
  package mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    let count = min(buffer.count / Self.blockByteCount * Self.blockByteCount, bytes.count - offset)
    guard count > 0 else { return 0 }
    let start = offset
    context.withBytes { context in
      unsafe context.withUnsafeBytes { context in
        unsafe bytes.withUnsafeBytes { bytes in
          unsafe vector.withUnsafeMutableBytes { vector in
            unsafe coffer_aes_decrypt(
              context.baseAddress, vector.baseAddress, bytes.baseAddress! + start, count, buffer.baseAddress)
          }
        }
      }
    }
    offset += count
    guard offset == bytes.count else { return count }
    let padding = unsafe Int(buffer[count - 1])
    guard (1...Self.blockByteCount).contains(padding) else { return nil }
    for index in count - padding..<count where unsafe Int(buffer[index]) != padding { return nil }
    return count - padding
  }
}
