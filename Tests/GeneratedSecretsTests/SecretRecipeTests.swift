import Foundation
import SecretMemory
import Testing

@testable import GeneratedSecrets

@Suite struct SecretRecipeTests {
  private static func made(_ recipe: SecretRecipe) throws -> [UInt8] { try recipe.make().copyIntoUnprotectedBytes() }

  private static func text(_ length: Int, _ symbols: String, avoidsAmbiguous: Bool = false) throws -> SecretRecipe {
    try #require(SecretRecipe.text(length: length, symbols: symbols, avoidsAmbiguous: avoidsAmbiguous))
  }

  private static let lowerCase = Set("abcdefghijklmnopqrstuvwxyz".utf8)
  private static let upperCase = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
  private static let digits = Set("0123456789".utf8)

  @Test(arguments: [4, 5, 20, 1024]) func eachClassIsThereAndNothingElse(length: Int) throws {
    let symbols = Set(SecretRecipe.standardSymbols.utf8)
    for _ in 0..<(length > 100 ? 2 : 50) {
      let text = try Self.made(Self.text(length, SecretRecipe.standardSymbols))
      #expect(text.count == length)
      let classes = [Self.lowerCase, Self.upperCase, Self.digits, symbols]
      for one in classes { #expect(!one.isDisjoint(with: text)) }
      #expect(Set(text).subtracting(classes.reduce([]) { $0.union($1) }).isEmpty)
    }
  }

  @Test func symbolsAndAmbiguousCharactersAreLeftOut() throws {
    for _ in 0..<50 {
      let plain = try Self.made(Self.text(64, ""))
      #expect(Set(plain).isSubset(of: Self.lowerCase.union(Self.upperCase).union(Self.digits)))
      let clear = try Self.made(Self.text(64, "|+", avoidsAmbiguous: true))
      #expect(Set(clear).isDisjoint(with: Set("0O1lI|".utf8)) && clear.contains(UInt8(ascii: "+")))
    }
  }

  @Test(arguments: ["a", "+5", " ", "é", "+\n", "\u{7F}"]) func otherSymbolsAreRefused(symbols: String) {
    #expect(SecretRecipe.text(length: 20, symbols: symbols, avoidsAmbiguous: false) == nil)
  }

  @Test func symbolsOfWhichNoneIsLeftAreRefused() {
    #expect(SecretRecipe.text(length: 20, symbols: "|", avoidsAmbiguous: true) == nil)
  }

  @Test func aPinHasDigitsAlone() throws {
    let pin = try Self.made(.pin(length: 6))
    #expect(pin.count == 6 && Set(pin).isSubset(of: Self.digits))
    #expect(abs(SecretRecipe.pin(length: 6).bits - log2(1e6)) < 1e-9)
  }

  /// Counted in another way: text by text, with the classes that each has already.
  @Test(arguments: [4, 5, 8, 20, 60]) func theBitsAreThoseOfAllTexts(length: Int) throws {
    for symbols in ["+", "+-*", ""] {
      let sizes = [26, 26, 10] + (symbols.isEmpty ? [] : [symbols.utf8.count])
      var counts = [Double](repeating: 0, count: 1 << sizes.count)
      counts[0] = 1
      for _ in 0..<length {
        var next = [Double](repeating: 0, count: counts.count)
        for (had, count) in counts.enumerated() {
          for (index, size) in sizes.enumerated() { next[had | 1 << index] += count * Double(size) }
        }
        counts = next
      }
      let bits = try Self.text(length, symbols).bits
      #expect(abs(bits - log2(counts[counts.count - 1])) < 1e-6, "\(length) \(symbols)")
    }
  }

  // MARK: Words

  /// The list, out of its file.
  private static func list() throws -> [String] {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/CWords/words.c")
    return try String(contentsOf: file, encoding: .utf8).matches(of: /"([a-z]+)",/).map { String($0.1) }
  }

  @Test func theListHasWordsOfWhichNoneBeginsAnother() throws {
    let words = try Self.list()
    #expect(words.count == 7776 && words == words.sorted() && Set(words).count == words.count)
    #expect(words.allSatisfy { (4...8).contains($0.count) })
    #expect(!zip(words, words.dropFirst()).contains { $1.hasPrefix($0) })
  }

  @Test func wordsAreThoseOfTheList() throws {
    let words = Set(try Self.list())
    var seen: Set<String> = []
    for count in [3, 6, 64] {
      let made = String(decoding: try Self.made(.words(count: count)), as: UTF8.self).split(separator: "-").map(String.init)
      #expect(made.count == count && words.isSuperset(of: made))
      seen.formUnion(made)
    }
    // One of 73 may come twice, and not half of them.
    #expect(seen.count > 60)
    #expect(abs(SecretRecipe.words(count: 6).bits - 77.549) < 0.001)
  }

  /// With the Debian packages that the script names.
  @Test func theListIsWhatItsScriptWrites() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
    let process = Process()
    process.executableURL = root.appending(path: "Scripts/words")
    process.arguments = ["--check"]
    process.currentDirectoryURL = root
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  // MARK: Numbers

  /// The share of the numbers that come twice as often among the remainders of 65,536.
  private static func share(of next: () throws -> Int) throws -> Double {
    var count = 0
    for _ in 0..<20_000 where try next() < 17_536 { count += 1 }
    return Double(count) / 20_000
  }

  @Test func noNumberIsFavoured() throws {
    var numbers = try UniformNumbers()
    let expected = 17_536.0 / 48_000
    // 0.0034 is the standard deviation.
    #expect(abs(try Self.share { try numbers.next(below: 48_000) } - expected) < 0.03)
    #expect(abs(try Self.share { Int.random(in: 0..<65_536) % 48_000 } - expected) > 0.1)
  }

  @Test(arguments: [1, 2, 3, 10, 26, 7776, 65_536]) func numbersAreBelowTheirBound(bound: Int) throws {
    var numbers = try UniformNumbers()
    var largest = 0
    for _ in 0..<2_000 {
      let number = try numbers.next(below: bound)
      #expect((0..<bound).contains(number))
      largest = max(largest, number)
    }
    #expect(largest >= bound / 2)
  }
}
