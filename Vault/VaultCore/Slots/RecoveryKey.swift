package import SecretMemory

/// A recovery key as people write it down: base32 (RFC 4648) of 32 random bytes and a checksum of 3, in 8 groups of 7 letters.
///
/// Letters are worked out by arithmetic, not looked up in a table that a cache could betray.
package enum RecoveryKey {
  /// The label of the checksum. A key for another purpose has another one, and is not taken for a key of a vault.
  package static let label = "coffer/v1/recovery-key"
  private static let (characterCount, groupCount, checksumCount) = (56, 7, 3)

  /// A new random one.
  /// - Parameter label: The label of the checksum.
  package static func random(label: String = RecoveryKey.label) throws(VaultError) -> Secret { try text(.random(), label: label) }

  static func text(_ key: borrowing Key, label: String = RecoveryKey.label) throws(VaultError) -> Secret {
    var bytes = try Secret(count: Key.byteCount + checksumCount)
    bytes.write(key.secret, at: 0)
    bytes.write(try checksum(key.secret, label), at: Key.byteCount)
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

  /// - Parameter label: The label of the checksum.
  /// - Throws: `recoveryKeyMalformed`: another character, another length, or a checksum that tells of a slip of the pen.
  package static func parse(_ text: borrowing Secret, label: String = RecoveryKey.label) throws(VaultError) -> Key {
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
    guard checksum.isEqual(to: try self.checksum(bytes, label)), let key = Key(bytes) else {
      throw VaultError(.recoveryKeyMalformed, "the checksum does not fit")
    }
    return key
  }

  private static func checksum(_ key: borrowing Secret, _ label: String) throws(VaultError) -> Secret {
    let label = Array(label.utf8) + [0]
    var message = try Secret(count: label.count + key.count)
    message.write(label, at: 0)
    message.write(key, at: label.count)
    let digest = try message.withBytes { (bytes) throws(VaultError) in try Key.hash(bytes) }
    return try digest.secret.copy(0, checksumCount)
  }
}
