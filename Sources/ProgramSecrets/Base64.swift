package import SecretMemory

/// RFC 4648 base64 from locked memory into locked memory.
package enum Base64 {
  /// - Throws: as `Secret(count:)`.
  package static func encode(_ secret: borrowing Secret) throws -> Secret {
    var text = try Secret(count: (secret.count + 2) / 3 * 4)
    secret.withBytes { source in
      text.withMutableBytes { target in
        var output = 0
        for start in stride(from: 0, to: source.byteCount, by: 3) {
          let rest = source.byteCount - start
          let first = source.byte(at: start)
          let second = rest > 1 ? source.byte(at: start + 1) : 0
          let third = rest > 2 ? source.byte(at: start + 2) : 0
          let group = UInt32(first) << 16 | UInt32(second) << 8 | UInt32(third)
          for position in 0..<4 {
            let sextet = UInt8(truncatingIfNeeded: group >> (18 - 6 * UInt32(position))) & 0x3F
            let letter = position > rest ? UInt8(ascii: "=") : Self.letter(sextet)
            target.storeBytes(of: letter, toByteOffset: output, as: UInt8.self)
            output += 1
          }
        }
      }
    }
    return text
  }

  /// Decodes with padding or without. Returns nil for anything else.
  /// - Throws: as `Secret(count:)`.
  package static func decode(_ text: borrowing Secret) throws -> Secret? {
    var count = text.count
    while count > 0, text.count - count < 2, text.byte(at: count - 1) == UInt8(ascii: "=") { count -= 1 }
    guard count % 4 != 1, count == text.count || text.count % 4 == 0 else { return nil }
    var result = try Secret(count: count * 3 / 4)
    var bits: UInt32 = 0
    var output = 0
    for offset in 0..<count {
      guard let sextet = sextet(text.byte(at: offset)) else { return nil }
      bits = bits << 6 | UInt32(sextet)
      let have = (offset % 4) * 6 + 6
      guard offset % 4 > 0 else { continue }
      // 12 bits complete the first byte, 18 the second, 24 the third.
      result.write(UInt8(truncatingIfNeeded: bits >> UInt32(have - 8 * (offset % 4))), at: output)
      output += 1
      if offset % 4 == 3 { bits = 0 }
    }
    return result
  }

  /// Without a table, whose look-ups would tell the cache which letters there are. Returns nil for a byte that is no digit of base64.
  private static func sextet(_ byte: UInt8) -> UInt8? {
    let value = Int(byte)
    /// All ones within the range, zero outside of it.
    func isIn(_ range: ClosedRange<UInt8>) -> Int {
      ((Int(range.lowerBound) - 1 - value) & (value - Int(range.upperBound) - 1)) >> 8
    }
    let found =
      (isIn(0x41...0x5A) & (value - 64)) + (isIn(0x61...0x7A) & (value - 70)) + (isIn(0x30...0x39) & (value + 5))
      + (isIn(0x2B...0x2B) & 63) + (isIn(0x2F...0x2F) & 64)
    return found == 0 ? nil : UInt8(truncatingIfNeeded: found - 1)
  }

  /// RFC 4648, also of its alphabet for URLs.
  static func letter(_ sextet: UInt8, isForURL: Bool) -> UInt8 {
    guard isForURL, sextet >= 62 else { return letter(sextet) }
    return UInt8(ascii: sextet == 62 ? "-" : "_")
  }

  /// Without a table, whose look-ups would tell the cache which letters there are.
  private static func letter(_ sextet: UInt8) -> UInt8 {
    let value = Int(sextet)
    // Each comparison is all ones where it holds, and zero elsewhere.
    let isOver25 = (25 - value) >> 8
    let isOver51 = (51 - value) >> 8
    let isOver61 = (61 - value) >> 8
    let isOver62 = (62 - value) >> 8
    return UInt8(truncatingIfNeeded: value + 65 + (isOver25 & 6) - (isOver51 & 75) - (isOver61 & 15) + (isOver62 & 3))
  }
}
