package import SecretMemory

/// A recovery key as people write it down: base32 (RFC 4648) of 32 random bytes and a checksum of 3, in 8 groups of 7 letters.
///
/// Letters are worked out by arithmetic, not looked up in a table that a cache could betray.
package enum RecoveryKey {
  private static let characterCount = 56
  private static let groupCount = 7
  private static let checksumCount = 3

  /// A new random one.
  package static func random() throws(VaultError) -> Secret { try text(.random()) }

  static func text(_ key: borrowing Key) throws(VaultError) -> Secret {
    var bytes = try Secret(count: Key.byteCount + checksumCount)
    bytes.write(key.secret, at: 0)
    bytes.write(try checksum(key.secret), at: Key.byteCount)
    var text = try Secret(count: characterCount + characterCount / groupCount - 1)
    for index in 0..<characterCount {
      let bit = index * 5
      let high = UInt16(bytes.byte(at: bit / 8)) << 8
      let pair = high | (bit / 8 + 1 < bytes.count ? UInt16(bytes.byte(at: bit / 8 + 1)) : 0)
      let value = Int((pair >> UInt16(11 - bit % 8)) & 31)
      // A–Z are 0–25, 2–7 are 26–31: the difference is chosen by the sign of 25 - value.
      text.write(UInt8(value + 65 + ((25 - value) >> 8 & (24 - 65))), at: index + index / groupCount)
      if index % groupCount == 0 && index > 0 { text.write(0x2D, at: index + index / groupCount - 1) }
    }
    return text
  }

  /// - Throws: `recoveryKeyMalformed`: another character, another length, or a checksum that tells of a slip of the pen.
  static func parse(_ text: borrowing Secret) throws(VaultError) -> Key {
    var bytes = try Secret(count: Key.byteCount + checksumCount)
    var pending: UInt16 = 0
    var bits = 0
    var written = 0
    for offset in 0..<text.count {
      let character = text.byte(at: offset)
      let value: UInt8
      switch character {
      case 0x20, 0x2D: continue
      case 0x41...0x5A: value = character - 0x41
      case 0x61...0x7A: value = character - 0x61
      case 0x32...0x37: value = character - 0x32 + 26
      default: throw VaultError(.recoveryKeyMalformed, "a character that no recovery key has")
      }
      pending = pending << 5 | UInt16(value)
      bits += 5
      guard bits >= 8 else { continue }
      bits -= 8
      guard written < bytes.count else { throw VaultError(.recoveryKeyMalformed, "too long") }
      bytes.write(UInt8(truncatingIfNeeded: pending >> UInt16(bits)), at: written)
      pending &= (1 << UInt16(bits)) - 1
      written += 1
    }
    guard written == bytes.count, bits == 0 else { throw VaultError(.recoveryKeyMalformed, "too short or too long") }
    let checksum = try bytes.copy(Key.byteCount, checksumCount)
    bytes.truncate(to: Key.byteCount)
    guard checksum.isEqual(to: try self.checksum(bytes)), let key = Key(bytes) else {
      throw VaultError(.recoveryKeyMalformed, "the checksum does not fit")
    }
    return key
  }

  private static func checksum(_ key: borrowing Secret) throws(VaultError) -> Secret {
    let label = Array("coffer/v1/recovery-key".utf8) + [0]
    var message = try Secret(count: label.count + key.count)
    message.write(label, at: 0)
    message.write(key, at: label.count)
    let digest = try message.withBytes { (bytes) throws(VaultError) in try Key.hash(bytes) }
    return try digest.secret.copy(0, checksumCount)
  }
}
