/// All patterns, indexed by the first byte of a token, so that a text is scanned once for any number of rules.
struct TokenIndex: Sendable {
  private struct Entry {
    let pattern: TokenPattern
    let rule: Int
  }

  /// The length of the shortest token.
  static let shortestToken = 20

  /// Sorted by first byte; the entries of byte `b` are in `starts[b]..<starts[b + 1]`.
  private var entries: [Entry] = []
  private var starts: [Int] = [0]

  init(_ rules: [LeakRule]) {
    var byFirstByte: [[Entry]] = Array(repeating: [], count: 128)
    for (index, rule) in rules.enumerated() {
      guard case .tokens(let patterns) = rule.match else { continue }
      for pattern in patterns {
        for byte in pattern.firstBytes { byFirstByte[Int(byte)].append(Entry(pattern: pattern, rule: index)) }
      }
    }
    for group in byFirstByte {
      entries += group
      starts.append(entries.count)
    }
  }

  /// The index of the rule whose token comes first in `text`. A token begins only at a byte that no letter or digit precedes.
  func firstRule(in text: borrowing Span<UInt8>) -> Int? {
    var isInside = false
    var position = 0
    while position + Self.shortestToken <= text.count {
      let byte = text[position]
      if !isInside, byte < 128 {
        for index in starts[Int(byte)]..<starts[Int(byte) + 1] where entries[index].pattern.matches(text, at: position) {
          return entries[index].rule
        }
      }
      isInside = Alphabet.alphanumeric.contains(byte)
      position += 1
    }
    return nil
  }
}
