/// Texts in the place of a secret that are not secrets.
enum Placeholder {
  /// Words for settings of a secret, and words that forms show in its place.
  private static let words: Set<String> = [
    "always", "ask", "auto", "automatic", "changeme", "custom", "default", "disabled", "empty", "enabled", "env", "environment",
    "false", "file", "hidden", "incorrect", "invalid", "keychain", "keyring", "manual", "manually", "masked", "missing", "never",
    "nil", "no", "none",
    "null",
    "off", "on", "optional", "password", "passwort", "kennwort", "placeholder", "prompt", "redacted", "removed", "required",
    "saved",
    "set", "stored", "system", "true", "undefined", "unknown", "unset", "vault", "visible", "wrong", "yes",
  ]

  static func matches(_ text: borrowing Span<UInt8>) -> Bool {
    isBlank(text) || isWord(text)
  }

  /// Texts that cannot be a password: masking characters, and variables.
  static func isBlank(_ text: borrowing Span<UInt8>) -> Bool {
    isOneCharacter(text) || isVariable(text)
  }

  /// `********`, `xxxx`, `....`: one masking character, repeated.
  private static func isOneCharacter(_ text: borrowing Span<UInt8>) -> Bool {
    guard text.count > 0 else { return true }
    let first = text[0]
    for index in 0..<text.count {
      let isDrawn = text[index] == first || text[index] == UInt8(ascii: "*")
      guard isDrawn || text[index] >= 0x80 else { return false }
    }
    return true
  }

  /// `$NAME`, `${NAME}`, `{{ name }}`, `<name>`, `%NAME%`, `%@`: filled in elsewhere.
  private static func isVariable(_ text: borrowing Span<UInt8>) -> Bool {
    let last = text[text.count - 1]
    switch text[0] {
    case UInt8(ascii: "$"):
      guard text.count > 1 else { return true }
      let isBraced = text[1] == UInt8(ascii: "{") && last == UInt8(ascii: "}") || text[1] == UInt8(ascii: "(")
      return isBraced || text.count <= 40 && text.end(of: .environmentName, from: 1) == text.count
    case UInt8(ascii: "{"): return text.count > 1 && text[1] == UInt8(ascii: "{") && last == UInt8(ascii: "}")
    case UInt8(ascii: "<"): return last == UInt8(ascii: ">")
    case UInt8(ascii: "["): return last == UInt8(ascii: "]")
    case UInt8(ascii: "%"): return last == UInt8(ascii: "%") || text.count <= 3
    default: return false
    }
  }

  private static func isWord(_ text: borrowing Span<UInt8>) -> Bool {
    guard text.count <= 12 else { return false }
    var word = ""
    for index in 0..<text.count { word.unicodeScalars.append(Unicode.Scalar(text[index].lowercased)) }
    return words.contains(word)
  }
}
