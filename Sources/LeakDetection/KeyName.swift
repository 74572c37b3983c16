/// What the name of a value says about it. `dbPassword`, `GITHUB_TOKEN` and `client-secret` are split into words, so that `author`
/// is no `auth` and `keyboard` no `key`.
package struct KeyName: Sendable {
  /// How sure a name makes that its value is a secret.
  enum Promise: Comparable {
    /// The name says nothing, or that the value is about a secret: `tokenCount`, `passwordFieldVisible`.
    case nothing
    /// A secret if it looks drawn by lot.
    case random
    /// A secret, unless it is plainly something else.
    case anything
  }

  /// In small letters.
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

  /// The name of a value inside a container that has this name: `tokens.github`. What the inner name says about itself counts more.
  func containing(_ inner: KeyName, named name: String) -> KeyName {
    guard inner.promise == .nothing, promise != .nothing else { return inner }
    let all = words + Self.split(name)
    if KeyWords.saysWhatItIs(all) { return KeyName(words: all, promise: .nothing) }
    return KeyName(words: all, promise: KeyWords.isOfMany(words) ? .anything : .random)
  }

  /// git's `user.signingKey` is the identifier of a key.
  var isOfSigningKey: Bool { words.contains("signingkey") || holds("signing", "key") }

  func holds(_ first: String, _ second: String) -> Bool {
    zip(words, words.dropFirst()).contains { $0 == first && $1 == second }
  }

  /// At signs, digits and changes from small letters to capitals; the last of several capitals begins the next word (`URLToken`).
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
