/// All patterns, found by the first byte of a token. A text is walked once, whatever the number of rules.
struct TokenIndex: Sendable {
  private struct Entry {
    let pattern: TokenPattern
    let rule: Int
  }

  /// No token is shorter.
  static let shortestToken = 20

  /// In the order of first bytes; those of byte `b` lie in `starts[b]..<starts[b + 1]`.
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

  /// The index of the rule whose token comes first in `text`. A token begins where no letter and no digit lies before it.
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
