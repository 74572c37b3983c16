/// A rule that recognises one kind of secret.
package struct LeakRule: Sendable {
  enum Match: Sendable {
    /// Tokens recognised by their form, wherever in a text they begin.
    case tokens([TokenPattern])
    /// Texts recognised by their structure, checked only if they contain all of these bytes.
    case text(StaticString, @Sendable (borrowing Span<UInt8>) -> Bool)
    /// Texts, numbers and other bytes that are secret because of their key.
    case named(@Sendable (KeyName, NamedValueKind, borrowing Span<UInt8>) -> Bool)
  }

  /// The name, which is printed and stable, because users refer to it to allow an exception.
  package let name: String
  /// The publisher of the form.
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

/// The kind of a named value.
enum NamedValueKind: Sendable {
  case text
  /// Bytes that are not text.
  case bytes
  /// An integer, given as its decimal digits.
  case number
}

extension LeakRule {
  /// Applies this rule alone, for tests.
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
