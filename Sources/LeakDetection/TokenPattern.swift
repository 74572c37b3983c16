/// The published form of a token: fixed text and runs of characters in sequence, as in `ghp_` and 36 letters or digits.
///
/// Runs are greedy. No form needs backtracking: if fixed text follows a run, the run's alphabet does not contain its first byte.
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

  /// The bytes with which a token can begin.
  var firstBytes: [UInt8] {
    guard let first = parts.first else { return [] }
    return first.literal.utf8CodeUnitCount > 0 ? [first.literal[0]] : (0..<128).filter(first.alphabet.contains)
  }

  /// Whether a complete token is at `start`, not one that continues beyond this form.
  func matches(_ text: borrowing Span<UInt8>, at start: Int) -> Bool {
    var position = start
    for part in parts {
      guard text.holds(part.literal, at: position) else { return false }
      position += part.literal.utf8CodeUnitCount
      // Stop one beyond the upper bound, so that a text of repeated prefixes is not scanned to its end for each of them.
      let end = text.end(of: part.alphabet, from: position, limit: part.counts.upperBound)
      guard part.counts.contains(end - position) else { return false }
      position = end
    }
    // AWS marks the keys in its documentation by `EXAMPLE`.
    guard position - start > 100 || !text.holds("EXAMPLE", at: position - 7) else { return false }
    return position == text.count || !Alphabet.alphanumeric.contains(text[position])
  }
}
