/// The meaning of a value's name. `dbPassword`, `GITHUB_TOKEN` and `client-secret` are split into words, so that `author` is not
/// taken for `auth`, nor `keyboard` for `key`.
package struct KeyName: Sendable {
  /// The certainty that a value with this name is a secret.
  enum Promise: Comparable {
    /// The name does not indicate a secret, or only something about one: `tokenCount`, `passwordFieldVisible`.
    case nothing
    /// A secret if it looks random.
    case random
    /// A secret, unless it is plainly something else.
    case anything
  }

  /// In lower case.
  let words: [String]
  let promise: Promise

  package init(_ name: String) {
    guard KeyWords.mayName(name.utf8.span) else {
      words = []
      promise = .nothing
      return
    }
    words = Self.split(name)
    promise = KeyWords.promise(of: words)
  }

  private init(words: [String], promise: Promise) {
    self.words = words
    self.promise = promise
  }

  /// The name of a value inside a container with this name: `tokens.github`. The inner name takes precedence if it indicates a
  /// secret.
  func containing(_ inner: KeyName, named name: String) -> KeyName {
    guard inner.promise == .nothing, promise != .nothing else { return inner }
    let all = words + Self.split(name)
    if KeyWords.saysWhatItIs(all) { return KeyName(words: all, promise: .nothing) }
    return KeyName(words: all, promise: KeyWords.isOfMany(words) ? .anything : .random)
  }

  /// git's `user.signingKey` is the identifier of a key, not the key.
  var isOfSigningKey: Bool { words.contains("signingkey") || holds("signing", "key") }

  func holds(_ first: String, _ second: String) -> Bool {
    zip(words, words.dropFirst()).contains { $0 == first && $1 == second }
  }

  /// Splits at signs, digits and changes from lower to upper case; the last of several capitals begins the next word
  /// (`URLToken`).
  static func split(_ name: String) -> [String] {
    var words: [String] = []
    var word = ""
    let bytes = name.utf8.span
    for index in 0..<bytes.count {
      let byte = bytes[index]
      let kind = CharacterKind(byte)
      let previous = index == 0 ? CharacterKind.other : CharacterKind(bytes[index - 1])
      let next = index + 1 < bytes.count ? CharacterKind(bytes[index + 1]) : .other
      let begins =
        kind != previous && !(previous == .capital && kind == .small)
        || kind == .capital && previous == .capital && next == .small
      if begins || kind == .other, !word.isEmpty {
        words.append(word)
        word = ""
      }
      if kind != .other { word.unicodeScalars.append(Unicode.Scalar(byte.lowercased)) }
    }
    if !word.isEmpty { words.append(word) }
    return words
  }
}
