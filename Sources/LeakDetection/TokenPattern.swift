/// The published form of a token: fixed text and runs of characters, one after the other, as in `ghp_` and 36 letters or digits.
///
/// A run takes all it can get. No form needs more: where fixed text follows a run, the run's alphabet does not hold its first byte.
struct TokenPattern: Sendable {
  private struct Part {
    let literal: StaticString
    let alphabet: Alphabet
    let counts: ClosedRange<Int>
  }

  private var parts: [Part]

  init(_ literal: StaticString, _ alphabet: Alphabet, _ counts: ClosedRange<Int>) {
    parts = [Part(literal: literal, alphabet: alphabet, counts: counts)]
  }

  init(_ literal: StaticString, _ alphabet: Alphabet, _ count: Int) {
    self.init(literal, alphabet, count...count)
  }

  init(_ literal: StaticString, _ alphabet: Alphabet, _ counts: PartialRangeFrom<Int>) {
    self.init(literal, alphabet, counts.lowerBound...Int.max)
  }

  func then(_ literal: StaticString, _ alphabet: Alphabet, _ counts: ClosedRange<Int>) -> TokenPattern {
    var pattern = self
    pattern.parts.append(Part(literal: literal, alphabet: alphabet, counts: counts))
    return pattern
  }

  func then(_ literal: StaticString, _ alphabet: Alphabet, _ count: Int) -> TokenPattern {
    then(literal, alphabet, count...count)
  }

  func then(_ literal: StaticString, _ alphabet: Alphabet, _ counts: PartialRangeFrom<Int>) -> TokenPattern {
    then(literal, alphabet, counts.lowerBound...Int.max)
  }

  /// What a token begins with.
  var firstBytes: [UInt8] {
    guard let first = parts.first else { return [] }
    return first.literal.utf8CodeUnitCount > 0 ? [first.literal[0]] : (0..<128).filter(first.alphabet.contains)
  }

  /// Whether a whole token lies at `start`: not one that goes on where this form has ended.
  func matches(_ text: borrowing Span<UInt8>, at start: Int) -> Bool {
    var position = start
    for part in parts {
      guard text.holds(part.literal, at: position) else { return false }
      position += part.literal.utf8CodeUnitCount
      // No further than to tell that it is too long: a text of prefixes alone must not be walked again for each.
      let end = text.end(of: part.alphabet, from: position, limit: part.counts.upperBound)
      guard part.counts.contains(end - position) else { return false }
      position = end
    }
    // As AWS marks those of its documentation.
    guard position - start > 100 || !text.holds("EXAMPLE", at: position - 7) else { return false }
    return position == text.count || !Alphabet.alphanumeric.contains(text[position])
  }
}
