@_spi(_Unicode) import Swift

/// A passphrase is text: the same characters must give the same key on every keyboard and terminal, so it is normalised to NFC.
///
/// The standard library normalises strings only, and a string of more than 15 bytes lies on the ordinary heap. So the text is cut
/// where nothing can compose across, which leaves strings of a character or two, and those have no heap storage.
enum Passphrase {
  /// The lengths allowed, in bytes of normalised UTF-8.
  static let counts = 1...4096

  /// - Parameter isNew: true where a slot is made: code points that Unicode has not assigned yet are refused then, because
  ///   normalisation of what is stored must not change with a later version of Unicode.
  /// - Throws: `passphraseNotText` (not UTF-8, or not assigned), `passphraseLength`.
  static func normalized(_ passphrase: borrowing Secret, isNew: Bool = false) throws(VaultError) -> Secret {
    guard passphrase.count <= counts.upperBound else { throw VaultError(.passphraseLength) }
    // No character grows more than threefold in UTF-8 under NFC.
    var output = try Secret(count: 3 * passphrase.count)
    var length = 0
    var segment = String.UnicodeScalarView()
    var offset = 0
    while offset < passphrase.count {
      let (scalar, count) = try scalar(of: passphrase, at: offset)
      if isNew && scalar.properties.generalCategory == .unassigned {
        throw VaultError(.passphraseNotText, "a code point that is not assigned")
      }
      if startsSegment(scalar) { append(&segment, to: &output, &length) }
      segment.append(scalar)
      offset += count
    }
    append(&segment, to: &output, &length)
    guard counts.contains(length) else { throw VaultError(.passphraseLength) }
    output.truncate(to: length)
    return output
  }

  private static func append(_ segment: inout String.UnicodeScalarView, to output: inout Secret, _ length: inout Int) {
    for scalar in String(segment)._nfc {
      for byte in UTF8.encode(scalar) ?? .init() {
        output.write(byte, at: length)
        length += 1
      }
    }
    segment = .init()
  }

  /// Whether no text before it can change what this scalar becomes. False for a few more than need be.
  private static func startsSegment(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return true }
    let properties = scalar.properties
    guard properties.canonicalCombiningClass == .notReordered else { return false }
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark, .unassigned: return false
    default: break
    }
    switch scalar.value {
    case 0x1160...0x11FF: return false  // Hangul vowels and final consonants compose with what precedes them
    case 0x16D40...0x16D7F: return false  // Kirat Rai vowel signs are letters, and compose
    default: return true
    }
  }

  /// One scalar of strict UTF-8: no surrogates, no overlong forms.
  private static func scalar(of text: borrowing Secret, at offset: Int) throws(VaultError) -> (Unicode.Scalar, Int) {
    let first = text.byte(at: offset)
    let count: Int
    switch first {
    case 0x00...0x7F: count = 1
    case 0xC2...0xDF: count = 2
    case 0xE0...0xEF: count = 3
    case 0xF0...0xF4: count = 4
    default: throw VaultError(.passphraseNotText, "not UTF-8")
    }
    guard offset + count <= text.count else { throw VaultError(.passphraseNotText, "not UTF-8") }
    var value = UInt32(count == 1 ? first : first & (0x7F >> UInt8(count)))
    for next in 1..<max(count, 1) {
      let byte = text.byte(at: offset + next)
      guard byte & 0xC0 == 0x80 else { throw VaultError(.passphraseNotText, "not UTF-8") }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    let shortest: UInt32 = count == 4 ? 0x10000 : count == 3 ? 0x800 : 0
    guard value >= shortest, let scalar = Unicode.Scalar(value) else { throw VaultError(.passphraseNotText, "not UTF-8") }
    return (scalar, count)
  }
}
