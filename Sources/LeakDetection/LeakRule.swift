/// One thing that is taken for a secret.
package struct LeakRule: Sendable {
  enum Match: Sendable {
    /// Tokens that can be told by their form, wherever in a text they begin.
    case tokens([TokenPattern])
    /// Texts that can be told by their structure.
    case text(@Sendable (borrowing Span<UInt8>) -> Bool)
    /// Texts, and bytes that are none, that are secret because their key says so.
    case named(@Sendable (KeyName, NamedValueKind, borrowing Span<UInt8>) -> Bool)
  }

  /// Printed for people, and stable: they name it where they allow an exception.
  package let name: String
  /// Who has published the form.
  package let source: String
  let match: Match

  init(_ name: String, from source: String, _ tokens: TokenPattern...) {
    self.name = name
    self.source = source
    match = .tokens(tokens)
  }

  init(_ name: String, from source: String, text: @escaping @Sendable (borrowing Span<UInt8>) -> Bool) {
    self.name = name
    self.source = source
    match = .text(text)
  }

  init(_ name: String, from source: String, named: @escaping @Sendable (KeyName, NamedValueKind, borrowing Span<UInt8>) -> Bool) {
    self.name = name
    self.source = source
    match = .named(named)
  }
}

/// What kind of value stands under a name.
enum NamedValueKind: Sendable {
  case text
  /// Bytes that are no text.
  case bytes
  /// An integer, given as its decimal digits.
  case number
}

/// All patterns, found by the first byte of a token. A text is walked once, whatever the number of rules.
struct TokenIndex: Sendable {
  private struct Entry {
    let pattern: TokenPattern
    let rule: Int
  }

  private var entries: [[Entry]]

  init(_ rules: [LeakRule]) {
    entries = Array(repeating: [], count: 128)
    for (index, rule) in rules.enumerated() {
      guard case .tokens(let patterns) = rule.match else { continue }
      for pattern in patterns {
        for byte in UInt8(0)..<128 where pattern.canStart(with: byte) {
          entries[Int(byte)].append(Entry(pattern: pattern, rule: index))
        }
      }
    }
  }

  /// The index of the rule whose token comes first in `text`. A token begins where no letter and no digit lies before it.
  func firstRule(in text: borrowing Span<UInt8>) -> Int? {
    var isInside = false
    for position in 0..<text.count {
      let byte = text[position]
      if !isInside, byte < 128 {
        for entry in entries[Int(byte)] where entry.pattern.matches(text, at: position) { return entry.rule }
      }
      isInside = Alphabet.alphanumeric.contains(byte)
    }
    return nil
  }
}
