/// Values without a recognisable form, under names that indicate a secret.
enum SecretUnderName {
  /// Longer texts are documents rather than passwords.
  static let longestText = 4096
  private static let shortestPassword = 4

  static func matches(_ name: KeyName, _ kind: NamedValueKind, _ value: borrowing Span<UInt8>) -> Bool {
    switch kind {
    case .text: isText(name, value)
    case .bytes: name.promise != .nothing && !KnownFile.matches(value) && Randomness.looksRandom(bytes: value)
    case .number: name.promise == .anything && value.count >= shortestPassword
    }
  }

  private static func isText(_ name: KeyName, _ value: borrowing Span<UInt8>) -> Bool {
    guard name.promise != .nothing, (shortestPassword...longestText).contains(value.count), !Placeholder.matches(value) else {
      return false
    }
    if let words = wordCount(value) { return isPhrase(name, words) || isPasswordOfWords(name, words, value) }
    guard !isOrdinary(name, value) else { return false }
    return name.promise == .random ? Randomness.looksRandom(value) : hasLatinLetterOrDigit(value)
  }

  private static func isOrdinary(_ name: KeyName, _ value: borrowing Span<UInt8>) -> Bool {
    // Identity providers use random UUIDs as client secrets.
    if name.holds("client", "secret"), OrdinaryForm.isUUID(value) { return false }
    return OrdinaryForm.matches(value) || name.isOfSigningKey && OrdinaryForm.isKeyIdentifier(value)
  }

  /// nil for a single word.
  private static func wordCount(_ value: borrowing Span<UInt8>) -> Int? {
    var words = Words()
    var count = 0
    while words.next(in: value) != nil { count += 1 }
    return count > 1 ? count : nil
  }

  /// A sentence under `password` is usually a label; under these names it is the passphrase itself.
  private static func isPhrase(_ name: KeyName, _ wordCount: Int) -> Bool {
    guard name.promise == .anything || name.words.contains("seed"), wordCount >= 4 else { return false }
    return name.words.contains { $0 == "passphrase" || $0 == "mnemonic" || $0 == "phrase" || $0.hasSuffix("passphrase") }
  }

  /// A password of several words. Labels are excluded: they begin with a capital, have no other and no digit, or end like a
  /// sentence, or mention the password.
  private static func isPasswordOfWords(_ name: KeyName, _ wordCount: Int, _ value: borrowing Span<UInt8>) -> Bool {
    guard name.promise == .anything else { return false }
    var words = Words()
    var capitals = 0
    var hasDigit = false
    var isFirstCapital: Bool?
    while let word = words.next(in: value) {
      for index in word {
        guard value[index] < 0x80 else { return false }
        if Alphabet.digits.contains(value[index]) { hasDigit = true }
      }
      let isCapital = CharacterKind(value[word.lowerBound]) == .capital
      isFirstCapital = isFirstCapital ?? isCapital
      if isCapital { capitals += 1 }
      for about: StaticString in ["password", "passwort", "passphrase", "your", "the", "enter", "must"]
      where word.count == about.utf8CodeUnitCount && value.holdsIgnoringCase(about, at: word.lowerBound) { return false }
    }
    let last = value[value.count - 1]
    guard ![UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "?")].contains(last), hasLatinLetterOrDigit(value) else {
      return false
    }
    return hasDigit || isFirstCapital != true || capitals == wordCount && wordCount >= 4
  }

  /// False for labels in other scripts.
  private static func hasLatinLetterOrDigit(_ value: borrowing Span<UInt8>) -> Bool {
    for index in 0..<value.count where Alphabet.alphanumeric.contains(value[index]) { return true }
    return false
  }

  /// The secret half of a pair of AWS access keys: 40 characters without a prefix.
  static func isAWSSecretKey(_ name: KeyName, _ kind: NamedValueKind, _ value: borrowing Span<UInt8>) -> Bool {
    guard kind == .text, value.count == 40, name.promise != .nothing, value.end(of: .base64, from: 0) == 40 else { return false }
    guard name.words.contains("aws") || name.holds("secret", "access") || name.holds("access", "key") else { return false }
    return value.end(of: .anyHex, from: 0) < 40 && Randomness.looksRandom(value)
  }

  /// An API key of Heroku has the form of any UUID.
  static func isHerokuKey(_ name: KeyName, _ kind: NamedValueKind, _ value: borrowing Span<UInt8>) -> Bool {
    kind == .text && name.promise != .nothing && name.words.contains("heroku") && OrdinaryForm.isUUID(value)
  }
}
