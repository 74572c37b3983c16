import CofferPropertyLists
import Testing

@Suite struct TextBytesTests {
  /// Similar strings, with lengths around that of a word, with bytes above 127, and strings that come from Foundation.
  static let texts: [String] = {
    let beginnings = ["", "a", "key.123", "key.1234", "key.12345", "NSWindow Frame 1234567", "ä", "ää7890ä", "😀😀"]
    let ends = ["", "\u{0}", "a", "z", "é", "e\u{301}", "\u{7F}", "\u{80}", "\u{FFFF}", "\u{10000}", "bcdefghi", "bcdefghj"]
    return beginnings.flatMap { beginning in ends.map { beginning + $0 } }
  }()

  @Test func orderAndEqualityAreThoseOfTheBytes() {
    for left in Self.texts {
      for right in Self.texts {
        #expect(TextBytes.precedes(left, right) == left.utf8.lexicographicallyPrecedes(right.utf8), "\(left) \(right)")
        #expect(TextBytes.areEqual(left, right) == left.utf8.elementsEqual(right.utf8), "\(left) \(right)")
        #expect(!TextBytes.areEqual(left, right) || TextBytes.digest(left) == TextBytes.digest(right))
      }
    }
    #expect(!TextBytes.areEqual("é", "e\u{301}"))
  }
}
