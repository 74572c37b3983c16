/// One thing that is taken for a secret.
package struct LeakRule: Sendable {
  enum Match: Sendable {
    /// Tokens that can be told by their form, wherever in a text they begin.
    case tokens([TokenPattern])
    /// Texts that can be told by their structure, once all these bytes are in them.
    case text(StaticString, @Sendable (borrowing Span<UInt8>) -> Bool)
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

  init(_ name: String, from source: String, signs: StaticString, text: @escaping @Sendable (borrowing Span<UInt8>) -> Bool) {
    self.name = name
    self.source = source
    match = .text(signs, text)
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

extension LeakRule {
  /// This rule alone, as the tests ask for it.
  package func matches(_ key: String, _ text: String) -> Bool {
    matches(KeyName(key), .text, text.utf8.span, DistinctBytes(text.utf8.span))
  }

  func matches(_ name: KeyName, _ kind: NamedValueKind, _ bytes: borrowing Span<UInt8>, _ distinct: DistinctBytes) -> Bool {
    switch match {
    case .tokens: TokenIndex([self]).firstRule(in: bytes) != nil
    case .text: matchesForm(bytes, distinct)
    case .named(let matches): matches(name, kind, bytes)
    }
  }

  func matchesForm(_ bytes: borrowing Span<UInt8>, _ distinct: DistinctBytes) -> Bool {
    guard case .text(let signs, let matches) = match else { return false }
    return distinct.contains(all: signs) && matches(bytes)
  }
}
