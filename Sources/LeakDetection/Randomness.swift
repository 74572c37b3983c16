/// Whether a text is random or was written by people. Entropy alone cannot tell: the letters of a bundle identifier are as mixed
/// as those of a short key. But written text uses few of the possible letter pairs, and its words are longer than two letters.
enum Randomness {
  /// Shorter texts have too little information.
  static let shortest = 16

  /// For texts of one word, with letters, digits and the signs of base64 and its variants.
  static func looksRandom(_ text: borrowing Span<UInt8>) -> Bool {
    guard text.count >= shortest else { return false }
    var seen = DistinctBytes()
    var letters = 0
    var digits = 0
    var kinds: UInt8 = 0
    // The logarithm, times 100, of the likelihood that the text was written by a person relative to random text.
    var score = 0
    var previous = CharacterKind.other
    for index in 0..<text.count {
      let byte = text[index]
      guard byte > 0x20, byte < 0x7F else { return false }
      seen.insert(byte)
      let kind = CharacterKind(byte)
      kinds |= kind.rawValue
      if kind == .digit { digits += 1 }
      if kind.isLetter { letters += 1 }
      if index > 0 {
        // A capital followed by lower case begins a word.
        score += kind == previous || previous == .capital && kind == .small ? 43 : -88
        if kind.isLetter, previous.isLetter {
          score += LetterPairs.score(text[index - 1].lowercased, byte.lowercased)
        }
      }
      previous = kind
    }
    guard letters > 0, seen.count >= 8 else { return false }
    // Hexadecimal text has too few letters to judge by their pairs.
    if text.end(of: .anyHex, from: 0) == text.count { return digits >= 2 && letters >= 2 }
    let isMixed = (kinds & ~CharacterKind.other.rawValue).nonzeroBitCount >= 2
    // The longer the text, the larger the difference of the scores.
    return isMixed && seen.count >= 10 && score < (text.count - shortest) * 20
  }

  /// For bytes that are not text: whether the number of distinct bytes is nearly that of random bytes.
  static func looksRandom(bytes: borrowing Span<UInt8>) -> Bool {
    guard bytes.count >= shortest else { return false }
    var seen = DistinctBytes()
    let sample = min(bytes.count, 64)
    for index in 0..<sample { seen.insert(bytes[index]) }
    return seen.count * 10 >= sample * 7
  }
}

enum CharacterKind: UInt8 {
  case capital = 1
  case small = 2
  case digit = 4
  case other = 8

  init(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): self = .capital
    case UInt8(ascii: "a")...UInt8(ascii: "z"): self = .small
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self = .digit
    default: self = .other
    }
  }

  var isLetter: Bool { self == .capital || self == .small }
}

/// The set of bytes that occur.
struct DistinctBytes {
  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  mutating func insert(_ byte: UInt8) {
    let bit = UInt64(1) << UInt64(byte & 63)
    switch byte >> 6 {
    case 0: words.0 |= bit
    case 1: words.1 |= bit
    case 2: words.2 |= bit
    default: words.3 |= bit
    }
  }

  init() {}

  init(_ bytes: borrowing Span<UInt8>) {
    for index in 0..<bytes.count { insert(bytes[index]) }
  }

  func contains(all ascii: StaticString) -> Bool {
    for index in 0..<ascii.utf8CodeUnitCount {
      let byte = ascii[index]
      guard (byte < 64 ? words.0 : words.1) >> UInt64(byte & 63) & 1 == 1 else { return false }
    }
    return true
  }

  var count: Int {
    words.0.nonzeroBitCount + words.1.nonzeroBitCount + words.2.nonzeroBitCount + words.3.nonzeroBitCount
  }
}
