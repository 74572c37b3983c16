/// Secrets in texts that have names and values of their own: JSON, connection strings, queries of URLs, environment files.
enum SecretMember {
  /// Whether a text has a member, `"password": "…"` or `Password=…;`, whose name and value together are a secret.
  static func isInside(_ text: borrowing Span<UInt8>) -> Bool {
    for index in 0..<text.count {
      switch text[index] {
      case UInt8(ascii: "="): if isPair(text, at: index) { return true }
      case UInt8(ascii: ":"): if isQuotedPair(text, at: index) { return true }
      default: break
      }
    }
    return false
  }

  /// `NAME=VALUE` up to one of `;`, `&`, a space or the end. Only what looks drawn by lot, or stands beside other pairs: a sentence
  /// may hold an equals sign.
  private static func isPair(_ text: borrowing Span<UInt8>, at equals: Int) -> Bool {
    let start = text.start(of: .nameInText, before: equals)
    guard start < equals else { return false }
    let isQuoted = equals + 1 < text.count && isQuote(text[equals + 1])
    let from = equals + (isQuoted ? 2 : 1)
    var end = from
    while end < text.count, isQuoted ? !isQuote(text[end]) : !endsPair(text[end]) { end += 1 }
    let name = KeyName(text.text(start..<equals))
    guard name.promise != .nothing else { return false }
    let value = text.extracting(from..<end)
    if Randomness.looksRandom(value) { return !Placeholder.matches(value) }
    let isInList = text.position(of: ";") != nil && text.lastPosition(of: "=") != text.position(of: "=")
    return isInList && name.promise == .anything && SecretUnderName.matches(name, .text, value)
  }

  /// `"NAME": "VALUE"`
  private static func isQuotedPair(_ text: borrowing Span<UInt8>, at colon: Int) -> Bool {
    var nameEnd = colon
    while nameEnd > 0, text[nameEnd - 1].isSpace { nameEnd -= 1 }
    guard nameEnd > 1, text[nameEnd - 1] == UInt8(ascii: "\"") else { return false }
    let nameStart = text.start(of: .nameInText, before: nameEnd - 1)
    var from = colon + 1
    while from < text.count, text[from].isSpace { from += 1 }
    guard from < text.count, text[from] == UInt8(ascii: "\"") else { return false }
    let name = KeyName(text.text(nameStart..<nameEnd - 1))
    guard name.promise != .nothing else { return false }
    var end = from + 1
    while end < text.count, text[end] != UInt8(ascii: "\"") { end += 1 }
    return SecretUnderName.matches(name, .text, text.extracting(from + 1..<end))
  }

  private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

  private static func endsPair(_ byte: UInt8) -> Bool {
    byte.isSpace || byte == UInt8(ascii: ";") || byte == UInt8(ascii: "&") || byte == UInt8(ascii: ",")
  }
}

extension Span<UInt8> {
  /// Where the run of characters of `alphabet` that ends before `end` starts.
  func start(of alphabet: Alphabet, before end: Int) -> Int {
    var position = end
    while position > 0, alphabet.contains(self[position - 1]) { position -= 1 }
    return position
  }

  /// ASCII, as all alphabets are.
  func text(_ range: Range<Int>) -> String {
    var text = ""
    for index in range { text.unicodeScalars.append(Unicode.Scalar(self[index])) }
    return text
  }
}
