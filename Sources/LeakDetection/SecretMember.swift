/// Secrets in texts that contain names and values: JSON, connection strings, URL queries, environment files.
enum SecretMember {
  private static let longestName = 200

  /// `NAME=VALUE`, ended by `;`, `&`, `,`, a space or the end. Because sentences contain equals signs too, the value counts only
  /// if it looks random, is between semicolons, in the query of a URL, beside libpq's keywords or after two dashes, or if a shell
  /// or a settings file would read it as an assignment.
  static func isInPairs(_ text: borrowing Span<UInt8>) -> Bool {
    var hasSemicolon: Bool?
    var isLibpq: Bool?
    for equals in 0..<text.count where text[equals] == UInt8(ascii: "=") && !text.holds("==", at: equals) {
      let nameEnd = text.endOfWord(before: equals)
      guard let (start, name) = text.secretName(endingAt: nameEnd) else { continue }
      var from = equals + 1
      while nameEnd < equals, from < text.count, text[from] == 0x20 { from += 1 }
      let isQuoted = from < text.count && isQuote(text[from])
      if isQuoted { from += 1 }
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
      // Spaces around the sign are accepted in settings files only: a sentence may contain semicolons.
      if nameEnd == equals {
        if isList || isInQuery(text, start) || text.holds("--", at: start) { return true }
        let isConnection = isLibpq ?? SecretConnection.isLibpq(text)
        isLibpq = isConnection
        if isConnection { return true }
      }
      let isAlone = endsLine(text, isQuoted ? end + 1 : end)
      if isAlone || text.end(of: .environmentName, from: start) == equals, isAssignment(text, start) { return true }
    }
    return false
  }

  private static func isInQuery(_ text: borrowing Span<UInt8>, _ start: Int) -> Bool {
    start > 0
      && (text[start - 1] == UInt8(ascii: "?") || text[start - 1] == UInt8(ascii: "&") || text[start - 1] == UInt8(ascii: "#"))
  }

  private static func endsLine(_ text: borrowing Span<UInt8>, _ position: Int) -> Bool {
    var position = position
    while position < text.count, text[position] != 0x0A {
      guard text[position].isSpace else { return false }
      position += 1
    }
    return true
  }

  /// Whether a name that starts there is at the start of its line, follows another assignment, or a keyword such as `export`.
  private static func isAssignment(_ text: borrowing Span<UInt8>, _ start: Int) -> Bool {
    var end = start
    while end > 0, text[end - 1].isSpace, text[end - 1] != 0x0A { end -= 1 }
    guard end > 0, text[end - 1] != 0x0A else { return true }
    guard end < start else { return false }
    var from = end
    while from > 0, end - from < longestName, !text[from - 1].isSpace { from -= 1 }
    let before = from..<end
    if text.isWord("env", before) || text.isWord("export", before) || text.isWord("-e", before) || text.isWord("--env", before) {
      return true
    }
    return text.end(of: .environmentName, from: from) > from && text.holds("=", at: text.end(of: .environmentName, from: from))
  }

  /// `"NAME": "VALUE"`
  static func isInJSON(_ text: borrowing Span<UInt8>) -> Bool {
    for colon in 0..<text.count where text[colon] == UInt8(ascii: ":") {
      var nameEnd = colon
      while nameEnd > 0, colon - nameEnd < longestName, text[nameEnd - 1].isSpace { nameEnd -= 1 }
      guard nameEnd > 1, text[nameEnd - 1] == UInt8(ascii: "\"") else { continue }
      var from = colon + 1
      while from < text.count, from - colon < longestName, text[from].isSpace { from += 1 }
      guard from < text.count, text[from] == UInt8(ascii: "\""), let (_, name) = text.secretName(endingAt: nameEnd - 1) else {
        continue
      }
      var end = from + 1
      while end < text.count, end - from <= SecretUnderName.longestText, text[end] != UInt8(ascii: "\"") { end += 1 }
      if SecretUnderName.matches(name, .text, text.extracting(from + 1..<end)) { return true }
    }
    return false
  }

  private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

  private static func endsPair(_ byte: UInt8) -> Bool {
    byte.isSpace || byte == UInt8(ascii: ";") || byte == UInt8(ascii: "&") || byte == UInt8(ascii: ",")
  }
}

extension Span<UInt8> {
  /// The end of the word before the spaces that precede `end`.
  fileprivate func endOfWord(before end: Int) -> Int {
    var position = end
    while position > 0, self[position - 1] == 0x20 { position -= 1 }
    return position
  }

  /// Decodes ASCII, of which all alphabets consist.
  func text(_ range: Range<Int>) -> String {
    var text = ""
    for index in range { text.unicodeScalars.append(Unicode.Scalar(self[index])) }
    return text
  }
}
