/// Forms of values that are not secrets under any name.
enum OrdinaryForm {
  static func matches(_ text: borrowing Span<UInt8>) -> Bool {
    isUUID(text) || isPath(text) || isReference(text) || isColour(text) || isDateOrVersion(text) || isMailAddress(text)
      || isDottedName(text)
  }

  /// The reference that replaces a value moved into the vault.
  static func isVaultReference(_ text: borrowing Span<UInt8>) -> Bool {
    guard text.holds("coffer://", at: 0), text.count > 9 else { return false }
    for index in 0..<text.count where text[index] <= 0x20 || text[index] >= 0x7F { return false }
    return true
  }

  /// An OpenPGP key identifier: the last 8 or 16 digits of a fingerprint, or all 32 or 40, optionally after `0x`.
  static func isKeyIdentifier(_ text: borrowing Span<UInt8>) -> Bool {
    let start = text.holdsIgnoringCase("0x", at: 0) ? 2 : 0
    return [8, 16, 32, 40].contains(text.count - start) && text.end(of: .anyHex, from: start) == text.count
  }

  static func isUUID(_ text: borrowing Span<UInt8>) -> Bool {
    guard text.count == 36 else { return false }
    for index in 0..<36 {
      let isDash = index == 8 || index == 13 || index == 18 || index == 23
      guard isDash ? text[index] == UInt8(ascii: "-") : Alphabet.anyHex.contains(text[index]) else { return false }
    }
    return true
  }

  /// Paths of POSIX, of a home directory and of Windows.
  private static func isPath(_ text: borrowing Span<UInt8>) -> Bool {
    if text.holds("/", at: 0) {
      // Random base64 may begin with a slash too.
      return !Randomness.looksRandom(text)
    }
    if text.holds("~/", at: 0) || text.holds("./", at: 0) || text.holds("../", at: 0) { return true }
    return text.count > 2 && Alphabet.letters.contains(text[0]) && text[1] == UInt8(ascii: ":") && text[2] == UInt8(ascii: "\\")
  }

  /// `scheme:` followed by text: a URL, or a reference into another password manager.
  private static func isReference(_ text: borrowing Span<UInt8>) -> Bool {
    let end = text.end(of: .letters, from: 0)
    guard end >= 2, text.holds("://", at: end) || text.holds("+", at: end) && text.position(of: "://") != nil else {
      return text.holds("urn:", at: 0) || text.holds("env:", at: 0) || text.holds("keychain:", at: 0)
        || text.holds("keyring:", at: 0) || text.holds("vault:", at: 0) || text.holds("file:", at: 0) || isPublishableKey(text)
    }
    // A URL that contains a key matches a rule of the table, or has the key in its query.
    return text.position(of: "=") == nil
      || !Randomness.looksRandom(text.extracting((text.lastPosition(of: "=") ?? 0) + 1..<text.count))
  }

  /// Stripe's and Mapbox's publishable keys, which are in public code.
  private static func isPublishableKey(_ text: borrowing Span<UInt8>) -> Bool {
    text.holds("pk_live_", at: 0) || text.holds("pk_test_", at: 0) || text.holds("pk.eyJ", at: 0)
  }

  private static func isColour(_ text: borrowing Span<UInt8>) -> Bool {
    guard text.holds("#", at: 0), [4, 5, 7, 9].contains(text.count) else { return false }
    return text.end(of: .anyHex, from: 1) == text.count
  }

  /// `2026-11-21T13:34:15Z`, `1.2.3-beta.4`, `10.0.0.1`.
  private static func isDateOrVersion(_ text: borrowing Span<UInt8>) -> Bool {
    let digits = text.end(of: .digits, from: 0)
    if digits == 4, text.count >= 10, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-") {
      return text.end(of: .dateTime, from: 0) == text.count
    }
    guard (1...3).contains(digits), text.holds(".", at: digits) else { return false }
    let second = text.end(of: .digits, from: digits + 1)
    guard second > digits + 1 else { return false }
    return second == text.count || text[second] == UInt8(ascii: ".") || text[second] == UInt8(ascii: "-")
  }

  private static func isMailAddress(_ text: borrowing Span<UInt8>) -> Bool {
    guard let at = text.position(of: "@"), at > 0, let dot = text.position(of: ".", from: at + 2) else { return false }
    return text.position(of: "@", from: at + 1) == nil && text.end(of: .letters, from: dot + 1) > dot + 2
      && text.end(of: .host, from: at + 1) == text.count
  }

  /// `com.example.app`: a bundle identifier, a host name or a file name.
  private static func isDottedName(_ text: borrowing Span<UInt8>) -> Bool {
    guard text.count <= 200, text.end(of: .host, from: 0) == text.count, !Randomness.looksRandom(text) else { return false }
    var dots = 0
    for index in 0..<text.count where text[index] == UInt8(ascii: ".") {
      guard index > 0, index + 1 < text.count, Alphabet.alphanumeric.contains(text[index + 1]) else { return false }
      dots += 1
    }
    return dots >= 2 && Alphabet.letters.contains(text[0])
  }
}

/// File types that are often kept as data, by their first bytes. They look random because they are compressed.
enum KnownFile {
  static func matches(_ bytes: borrowing Span<UInt8>) -> Bool {
    let starts: [StaticString] = [
      "bplist", "book", "\u{7F}ELF", "GIF8", "%PDF", "SQLite format 3", "RIFF", "OggS", "II*", "MM", "icns", "fLaC", "ID3",
      "OTTO",
      "wOF", "typedstream",
    ]
    for start in starts where bytes.holds(start, at: 0) { return true }
    let binary: [[UInt8]] = [
      [0x89, 0x50, 0x4E, 0x47], [0xFF, 0xD8, 0xFF], [0x50, 0x4B, 0x03, 0x04], [0x1F, 0x8B], [0x28, 0xB5, 0x2F, 0xFD],
      [0xFD, 0x37, 0x7A, 0x58], [0x04, 0x0B, 0x73, 0x74], [0x00, 0x01, 0x00, 0x00], [0x42, 0x5A, 0x68],
    ]
    for start in binary where bytes.count >= start.count {
      var isEqual = true
      for index in 0..<start.count where bytes[index] != start[index] { isEqual = false }
      if isEqual { return true }
    }
    return false
  }
}
