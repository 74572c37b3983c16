import Testing

@testable import CofferPreferences

@Suite struct ByteReaderTests {
  static let texts: [[UInt8]] = [
    [], Array("key".utf8), Array("a longer text than fits into a word, with ä and 😀".utf8),
    Array("a\u{0}b".utf8), Array("\u{FFFD}".utf8),
  ]
  /// Three bytes, as many as the replacement character has; an overlong slash; half of a surrogate pair; an invalid byte in a
  /// long text.
  static let others: [[UInt8]] = [
    [0xF0, 0x9F, 0x98], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xFF], Array("a longer text than fits into a word ".utf8) + [0x80],
  ]

  static func text(_ bytes: [UInt8]) -> String? {
    unsafe (bytes + [0x41]).withUnsafeBytes { all in
      var reader = unsafe ByteReader(all, 0..<bytes.count)
      return reader.text(bytes.count)
    }
  }

  @Test(arguments: texts) func aValidTextIsRead(bytes: [UInt8]) {
    #expect(Self.text(bytes).map { Array($0.utf8) } == bytes)
  }

  @Test(arguments: others) func invalidTextIsNotRepaired(bytes: [UInt8]) { #expect(Self.text(bytes) == nil) }
}
