internal import CWords
internal import Glibc
package import SecretMemory

/// How a secret is made at random.
package struct SecretRecipe: Sendable, Equatable {
  private enum Form: Equatable {
    /// Each of the classes has to be there.
    case characters([[UInt8]], count: Int)
    case words(count: Int)
  }

  private let form: Form

  // MARK: Kinds

  package static let lengths = 4...1024
  package static let pinLengths = 4...64
  package static let wordCounts = 3...64
  package static let standardSymbols = "!#$%&()*+,-./:;=?@[]^_{}~"
  private static let ambiguous = Array("0O1lI|".utf8)

  /// A text with letters of both cases, digits and symbols.
  /// - Parameters:
  ///   - symbols: Printable ASCII, without letters and digits. Empty: no symbols.
  ///   - avoidsAmbiguous: Whether characters are left out that look like others.
  /// - Returns: nil for symbols that are none, or of which none is left.
  package static func text(length: Int, symbols: String, avoidsAmbiguous: Bool) -> SecretRecipe? {
    precondition(lengths.contains(length))
    guard symbols.utf8.allSatisfy(isSymbol) else { return nil }
    var classes = [lowerCase, upperCase, digits]
    if !symbols.isEmpty { classes.append(Set(symbols.utf8).sorted()) }
    if avoidsAmbiguous { classes = classes.map { $0.filter { !ambiguous.contains($0) } } }
    return classes.allSatisfy { !$0.isEmpty } ? SecretRecipe(form: .characters(classes, count: length)) : nil
  }

  package static func pin(length: Int) -> SecretRecipe {
    precondition(pinLengths.contains(length))
    return SecretRecipe(form: .characters([digits], count: length))
  }

  /// Words of the list, with a hyphen between two.
  package static func words(count: Int) -> SecretRecipe {
    precondition(wordCounts.contains(count))
    return SecretRecipe(form: .words(count: count))
  }

  private static let lowerCase = Array(UInt8(ascii: "a")...UInt8(ascii: "z"))
  private static let upperCase = Array(UInt8(ascii: "A")...UInt8(ascii: "Z"))
  private static let digits = Array(UInt8(ascii: "0")...UInt8(ascii: "9"))

  private static func isSymbol(_ byte: UInt8) -> Bool {
    (0x21...0x7E).contains(byte) && ![lowerCase, upperCase, digits].contains { $0.contains(byte) }
  }

  // MARK: Strength

  /// The binary logarithm of the number of secrets, which are all as likely.
  package var bits: Double {
    switch form {
    case .words(let count): return Double(count) * log2(Double(coffer_word_count))
    case .characters(let classes, let count):
      let all = classes.reduce(0) { $0 + $1.count }
      // The share of the texts that lack no class, by inclusion and exclusion.
      let share = (0..<1 << classes.count).reduce(0.0) { sum, chosen in
        let lacking = classes.indices.filter { chosen >> $0 & 1 == 1 }
        let rest = all - lacking.reduce(0) { $0 + classes[$1].count }
        return sum + (lacking.count % 2 == 0 ? 1 : -1) * pow(Double(rest) / Double(all), Double(count))
      }
      return Double(count) * log2(Double(all)) + log2(share)
    }
  }

  // MARK: Making

  /// - Throws: as `Secret(count:)`.
  package func make() throws(VaultError) -> Secret {
    var numbers = try UniformNumbers()
    switch form {
    case .words(let count): return try Self.words(count, &numbers)
    case .characters(let classes, let count):
      var text = try Secret(count: count)
      // A whole text is rejected: to put the missing character into it would make some texts more likely than others.
      repeat {
        try Self.fill(&text, classes.flatMap { $0 }, &numbers)
      } while !classes.allSatisfy { Self.has(text, oneOf: $0) }
      return text
    }
  }

  private static func fill(_ text: inout Secret, _ alphabet: [UInt8], _ numbers: inout UniformNumbers) throws(VaultError) {
    for offset in 0..<text.count { text.write(alphabet[try numbers.next(below: alphabet.count)], at: offset) }
  }

  private static func has(_ text: borrowing Secret, oneOf characters: [UInt8]) -> Bool {
    for offset in 0..<text.count where characters.contains(text.byte(at: offset)) { return true }
    return false
  }

  private static let longestWord = 8

  private static func words(_ count: Int, _ numbers: inout UniformNumbers) throws(VaultError) -> Secret {
    var text = try Secret(count: count * (longestWord + 1))
    var end = 0
    for index in 0..<count {
      if index > 0 {
        text.write(UInt8(ascii: "-"), at: end)
        end += 1
      }
      let word = unsafe coffer_word(Int32(try numbers.next(below: Int(coffer_word_count))))
      var letter = 0
      while let byte = unsafe word.map({ unsafe UInt8(bitPattern: $0[letter]) }), byte != 0 {
        text.write(byte, at: end)
        (letter, end) = (letter + 1, end + 1)
      }
    }
    text.truncate(to: end)
    return text
  }
}
