import Foundation

/// Finds sentences that hide their subject, in comments, documents and the texts that programs print.
enum Words {
  private static let hiddenSubject = "(Who|Whoever|What|That|Of|So|Nobody|Somebody)\\b"
  /// A sentence whose subject is a relative clause; questions are allowed.
  private static let relativeSubject = "(Who|Whoever|What) [^?]*([.:;]|$)"

  private static let comment = Pattern("^\\s*//+ ?(.*)$")
  /// A comment after code.
  private static let trailing = Pattern("^\\s*[^\\s/\"].* // (.*)$")
  private static let item = Pattern("^\\s*- (?:Parameter )?\\w+: (.*)$")
  private static let firstWord = Pattern("^" + hiddenSubject)
  private static let laterSentence = Pattern("(?<=[.:;] )" + relativeSubject)
  private static let firstSentence = Pattern("^" + relativeSubject)
  private static let phrase = Pattern("(?i)\\bnil where\\b|\\bwhere there (?:is|are)\\b")
  private static let literal = Pattern("\"((?:[^\"\\\\]|\\\\.)*)\"")
  /// In messages: a hidden subject, an absent one, a negated noun, a condition that begins with "where", and a file or process that talks.
  private static let message = Pattern(
    [
      "\\b(?:nobody|somebody|whoever)\\b", "(?<!there )\\b(?:is|are|was|were) no\\b(?! (?:longer|more))",
      ", where\\b|\\bwhere (?:there|none|no|nothing)\\b", "(?:^|[.:;] )(?:who|what|that which)\\b(?![^.;]*\\?)",
      "\\b(?:agent|app|command|file|log|manifest|process|program|vault)s? (?:knows?|says?|tells?|wants?)\\b",
    ].map { "(?i:\($0))" }.joined(separator: "|"))
  /// The marks of a list in Markdown, and macros of man pages.
  private static let mark = Pattern("^(?:\\s*(?:[-*] |\\d+\\. )|\\.[A-Z]+ )?(.*)$")

  /// The findings in the comments of a source file, with their places. The first words of a block, and of its parameters, may not be
  /// one of `hiddenSubject`.
  static func inComments(of file: SourceFile) -> [String] {
    var findings: [String] = []
    var isInside = false
    for (index, line) in file.lines.enumerated() {
      let whole = comment.group(in: line)
      guard let text = whole ?? trailing.group(in: line) else {
        isInside = false
        continue
      }
      let item = item.group(in: text)
      var count = phrase.count(in: text)
      if !isInside || item != nil, firstWord.count(in: item ?? text) > 0 {
        count += 1
      } else if whole != nil {
        count += laterSentence.count(in: text)
      }
      isInside = whole != nil
      findings += Array(repeating: "\(file.path):\(index + 1): \(text)", count: count)
    }
    return findings
  }

  /// The findings in the string literals of a source file, with their places.
  static func inLiterals(of file: SourceFile) -> [String] {
    var findings: [String] = []
    var isInside = false
    for (index, line) in file.lines.enumerated() where comment.group(in: line) == nil {
      if line.contains("\"\"\"") {
        isInside.toggle()
        continue
      }
      for text in isInside ? [line] : literal.groups(in: line) where text.contains(" ") {
        let count = message.count(in: text)
        findings += Array(repeating: "\(file.path):\(index + 1): \(text)", count: count)
      }
    }
    return findings
  }

  /// The findings in a document. Headings and fenced blocks are left out.
  static func inDocument(_ file: SourceFile) -> [String] {
    var findings: [String] = []
    var isFenced = false
    for (index, line) in file.lines.enumerated() {
      if line.hasPrefix("```") { isFenced.toggle() }
      guard !isFenced, !line.hasPrefix("#"), let text = mark.group(in: line) else { continue }
      let count = phrase.count(in: text) + firstSentence.count(in: text) + laterSentence.count(in: text)
      findings += Array(repeating: "\(file.path):\(index + 1): \(text.prefix(120))", count: count)
    }
    return findings
  }
}

/// A regular expression. One that is not valid never matches, which the tests with examples notice.
private struct Pattern {
  private let expression: NSRegularExpression?

  init(_ pattern: String) { expression = try? NSRegularExpression(pattern: pattern) }

  func count(in text: String) -> Int {
    expression?.numberOfMatches(in: text, range: NSRange(text.startIndex..., in: text)) ?? 0
  }

  /// The text of the first group in each match.
  func groups(in text: String) -> [String] {
    let matches = expression?.matches(in: text, range: NSRange(text.startIndex..., in: text)) ?? []
    return matches.compactMap { Range($0.range(at: 1), in: text) }.map { String(text[$0]) }
  }

  /// The text of the first group; nil if the expression does not match.
  func group(in text: String) -> String? {
    let match = expression?.firstMatch(in: text, range: NSRange(text.startIndex..., in: text))
    return match.flatMap { Range($0.range(at: 1), in: text) }.map { String(text[$0]) }
  }
}
