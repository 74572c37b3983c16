/// Secrets in the lines of configuration files: YAML, headers, XML, and quoted pairs in source code.
enum SecretLine {
  /// `NAME: VALUE` at the start of a line, of a list element or of a map, and as a header between quotes. In a single line of
  /// text, a plain word does not count: `Password: incorrect` is a message.
  static func isInYAML(_ text: borrowing Span<UInt8>) -> Bool {
    let isOneLine = text.position(of: "\n") == nil
    for colon in 0..<text.count where text[colon] == UInt8(ascii: ":") {
      guard colon + 1 < text.count, text[colon + 1] == 0x20, let (start, name) = text.secretName(endingAt: colon) else {
        continue
      }
      let opening = start > 0 ? text[start - 1] : 0x0A
      let isInMap = isInMap(text, start)
      let isQuotedHeader = isQuote(opening)
      guard isInMap || isQuotedHeader || startsLine(text, start) else { continue }
      var from = colon + 1
      while from < text.count, text[from] == 0x20 { from += 1 }
      guard from < text.count else { continue }
      let quote: UInt8? = isQuote(text[from]) ? text[from] : isQuotedHeader ? opening : nil
      if isQuote(text[from]) { from += 1 }
      var end = from
      while end < text.count, end - from <= SecretUnderName.longestText, text[end] != 0x0A {
        guard quote.map({ text[end] != $0 }) ?? !text[end].isSpace else { break }
        guard !isInMap || text[end] != UInt8(ascii: "}") && text[end] != UInt8(ascii: ",") else { break }
        end += 1
      }
      let value = text.extracting(from..<end)
      guard SecretUnderName.matches(name, .text, value) else { continue }
      if name.promise == .random || quote != nil || isInMap { return true }
      guard endsLine(text, end) else { continue }
      if !isOneLine || !value.isPlainWord { return true }
    }
    return false
  }

  /// `<NAME>VALUE</`, optionally with a prefix before the name.
  static func isInXML(_ text: borrowing Span<UInt8>) -> Bool {
    for close in 0..<text.count where text[close] == UInt8(ascii: ">") {
      guard let (start, name) = text.secretName(endingAt: close), start > 0,
        text[start - 1] == UInt8(ascii: "<") || text[start - 1] == UInt8(ascii: ":")
      else { continue }
      guard let end = text.position(of: "</", from: close + 1, limit: SecretUnderName.longestText) else { continue }
      if SecretUnderName.matches(name, .text, text.extracting(close + 1..<end)) { return true }
    }
    return false
  }

  /// `'NAME' => 'VALUE'` and `define('NAME', 'VALUE')`.
  static func isInCode(_ text: borrowing Span<UInt8>) -> Bool {
    for index in 0..<text.count where isQuote(text[index]) {
      guard let (start, name) = text.secretName(endingAt: index), start > 0, text[start - 1] == text[index] else { continue }
      var from = index + 1
      while from < text.count, text[from] == 0x20 { from += 1 }
      let isDefinition = text.holds(",", at: from) && text.holds("define(", at: start - 8)
      guard isDefinition || text.holds("=>", at: from) else { continue }
      from += isDefinition ? 1 : 2
      while from < text.count, text[from] == 0x20 { from += 1 }
      guard from < text.count, isQuote(text[from]) else { continue }
      var end = from + 1
      while end < text.count, end - from <= SecretUnderName.longestText, text[end] != text[from] { end += 1 }
      if SecretUnderName.matches(name, .text, text.extracting(from + 1..<end)) { return true }
    }
    return false
  }

  private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

  /// Whether a brace is open on the line, and the name is its first or follows a comma.
  private static func isInMap(_ text: borrowing Span<UInt8>, _ start: Int) -> Bool {
    var position = start
    while position > 0, text[position - 1] == 0x20 { position -= 1 }
    guard position > 0, text[position - 1] == UInt8(ascii: "{") || text[position - 1] == UInt8(ascii: ",") else { return false }
    while position > 0, start - position < longestMap, text[position - 1] != 0x0A {
      if text[position - 1] == UInt8(ascii: "{") { return true }
      position -= 1
    }
    return false
  }

  private static let longestMap = 1000

  /// Whether only indentation and a list's dash precede it.
  private static func startsLine(_ text: borrowing Span<UInt8>, _ start: Int) -> Bool {
    var position = start
    while position > 0, text[position - 1] != 0x0A {
      guard text[position - 1].isSpace || text[position - 1] == UInt8(ascii: "-") else { return false }
      position -= 1
    }
    return true
  }

  /// Whether only a comment follows.
  private static func endsLine(_ text: borrowing Span<UInt8>, _ end: Int) -> Bool {
    var position = end
    while position < text.count, text[position].isSpace, text[position] != 0x0A { position += 1 }
    return position == text.count || text[position] == 0x0A || text[position] == UInt8(ascii: "#")
  }
}

extension Span<UInt8> {
  /// The name before a separator, if it indicates a secret.
  func secretName(endingAt end: Int) -> (start: Int, name: KeyName)? {
    var start = end
    while start > 0, end - start < 200, Alphabet.nameInText.contains(self[start - 1]) { start -= 1 }
    guard start < end else { return nil }
    let name = KeyName(text(start..<end))
    return name.promise == .nothing ? nil : (start, name)
  }

  /// Letters only, optionally with a sign at the end: `hidden`, `incorrect!`.
  var isPlainWord: Bool { end(of: .letters, from: 0) >= count - 1 }
}
