/// Secrets in texts that have names and values of their own: JSON, connection strings, queries of URLs, environment files.
enum SecretMember {
  private static let longestName = 200

  /// `NAME=VALUE`, up to one of `;`, `&`, `,`, a space or the end. Only what looks drawn by lot, or stands between semicolons: a
  /// sentence may hold an equals sign.
  static func isInPairs(_ text: borrowing Span<UInt8>) -> Bool {
    var hasSemicolon: Bool?
    for equals in 0..<text.count where text[equals] == UInt8(ascii: "=") {
      guard let name = name(in: text, endingAt: equals) else { continue }
      let isQuoted = equals + 1 < text.count && isQuote(text[equals + 1])
      let from = equals + (isQuoted ? 2 : 1)
      var end = from
      while end < text.count, end - from <= SecretUnderName.longestText {
        guard isQuoted ? !isQuote(text[end]) : !endsPair(text[end]) else { break }
        end += 1
      }
      let value = text.extracting(from..<end)
      if Randomness.looksRandom(value), !Placeholder.matches(value) { return true }
      guard name.promise == .anything, SecretUnderName.matches(name, .text, value) else { continue }
      let isList = hasSemicolon ?? (text.position(of: ";") != nil)
      hasSemicolon = isList
      if isList { return true }
    }
    return false
  }

  /// `"NAME": "VALUE"`
  static func isInJSON(_ text: borrowing Span<UInt8>) -> Bool {
    for colon in 0..<text.count where text[colon] == UInt8(ascii: ":") {
      var nameEnd = colon
      while nameEnd > 0, colon - nameEnd < longestName, text[nameEnd - 1].isSpace { nameEnd -= 1 }
      guard nameEnd > 1, text[nameEnd - 1] == UInt8(ascii: "\"") else { continue }
      var from = colon + 1
      while from < text.count, from - colon < longestName, text[from].isSpace { from += 1 }
      guard from < text.count, text[from] == UInt8(ascii: "\""), let name = name(in: text, endingAt: nameEnd - 1) else {
        continue
      }
      var end = from + 1
      while end < text.count, end - from <= SecretUnderName.longestText, text[end] != UInt8(ascii: "\"") { end += 1 }
      if SecretUnderName.matches(name, .text, text.extracting(from + 1..<end)) { return true }
    }
    return false
  }

  /// The name before a sign, where it promises a secret.
  private static func name(in text: borrowing Span<UInt8>, endingAt end: Int) -> KeyName? {
    var start = end
    while start > 0, end - start < longestName, Alphabet.nameInText.contains(text[start - 1]) { start -= 1 }
    guard start < end else { return nil }
    let name = KeyName(text.text(start..<end))
    return name.promise == .nothing ? nil : name
  }

  private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

  private static func endsPair(_ byte: UInt8) -> Bool {
    byte.isSpace || byte == UInt8(ascii: ";") || byte == UInt8(ascii: "&") || byte == UInt8(ascii: ",")
  }
}

extension Span<UInt8> {
  /// ASCII, as all alphabets are.
  func text(_ range: Range<Int>) -> String {
    var text = ""
    for index in range { text.unicodeScalars.append(Unicode.Scalar(self[index])) }
    return text
  }
}
