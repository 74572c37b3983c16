package import SecretMemory

/// RFC 4648 base32 from locked memory into locked memory.
package enum Base32 {
  /// Takes letters of both cases, padding or none, and blanks and hyphens, which people type between groups.
  /// - Throws: `seedNotBase32`, `seedCutOff`; as `Secret(count:)`.
  package static func decode(_ text: borrowing Secret) throws -> Secret {
    var end = text.count
    while end > 0, isBlank(text.byte(at: end - 1)) || text.byte(at: end - 1) == UInt8(ascii: "=") { end -= 1 }
    var result = try Secret(count: end * 5 / 8)
    var (bits, held, output, letters) = (UInt32(0), 0, 0, 0)
    for offset in 0..<end {
      let byte = text.byte(at: offset)
      if isBlank(byte) { continue }
      guard let quintet = quintet(byte) else { throw CodeError(.seedNotBase32) }
      bits = (bits << 5 | UInt32(quintet)) & 0xFFF
      (held, letters) = (held + 5, letters + 1)
      guard held >= 8 else { continue }
      held -= 8
      result.write(UInt8(truncatingIfNeeded: bits >> UInt32(held)), at: output)
      output += 1
    }
    guard ![1, 3, 6].contains(letters % 8) else { throw CodeError(.seedCutOff) }
    result.truncate(to: output)
    return result
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) || byte == UInt8(ascii: "-") }

  /// Without a table, whose look-ups would tell the cache which letters there are. Returns nil for a byte that is no digit of base32.
  private static func quintet(_ byte: UInt8) -> UInt8? {
    let value = Int(byte)
    /// All ones within the range, zero outside of it.
    func isIn(_ range: ClosedRange<UInt8>) -> Int {
      ((Int(range.lowerBound) - 1 - value) & (value - Int(range.upperBound) - 1)) >> 8
    }
    let found = (isIn(0x41...0x5A) & (value - 64)) + (isIn(0x61...0x7A) & (value - 96)) + (isIn(0x32...0x37) & (value - 23))
    return found == 0 ? nil : UInt8(truncatingIfNeeded: found - 1)
  }
}
