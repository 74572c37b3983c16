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
