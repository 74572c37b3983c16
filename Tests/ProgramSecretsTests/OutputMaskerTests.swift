import CofferTesting
import Foundation
import ProgramSecrets
import SecretMemory
import Testing

@Suite struct OutputMaskerTests {
  static func secrets(_ values: [(name: String, bytes: [UInt8])]) throws -> ConcealedSecrets {
    let secrets = try ConcealedSecrets()
    for value in values { _ = secrets.add(HeldSecret(try Secret(copying: value.bytes)), named: value.name) }
    try secrets.prepare()
    return secrets
  }

  /// - Parameter cut: The length of the next piece.
  static func mask(_ text: [UInt8], _ secrets: ConcealedSecrets, capacity: Int = 32 << 10, cut: () -> Int) throws -> [UInt8] {
    var masker = try OutputMasker(secrets, capacity: capacity)
    var result: [UInt8] = []
    var offset = 0
    func sink(_ bytes: UnsafeRawBufferPointer) -> Int {
      let count = max(1, min(cut(), bytes.count))
      unsafe result += bytes[..<count]
      return count
    }
    while offset < text.count {
      let count = unsafe masker.fill { room in
        let part = text[offset..<min(text.count, offset + max(1, cut()))].prefix(room.count)
        unsafe room.copyBytes(from: part)
        return part.count
      }
      #expect(count > 0)
      offset += count
      #expect(unsafe masker.write { unsafe sink($0) })
    }
    masker.finish()
    #expect(unsafe masker.write { unsafe sink($0) })
    return result
  }

  static func mask(_ text: String, _ values: KeyValuePairs<String, String>) throws -> String {
    let secrets = try secrets(values.map { ($0.key, Array($0.value.utf8)) })
    let whole = try mask(Array(text.utf8), secrets) { 65536 }
    #expect(try mask(Array(text.utf8), secrets) { 1 } == whole)
    return String(decoding: whole, as: UTF8.self)
  }

  @Test(arguments: [
    ("a s3cret b", "a <concealed A> b"), ("s3crets3cret", "<concealed A><concealed A>"), ("s3cre", "s3cre"),
    ("s3s3cret", "s3<concealed A>"), ("", ""),
    ("733363726574 733363726574", "<concealed A> <concealed A>"), ("73336\n372\r\n6574\n", "<concealed A>\n"),
    ("73336\n\n\n\n\n3726574", "73336\n\n\n\n\n3726574"),
  ]) func occurrencesAreReplaced(text: String, expected: String) throws {
    #expect(try Self.mask(text, ["A": "s3cret"]) == expected)
  }

  @Test func base64IsFoundAtEachAlignment() throws {
    for shift in 0..<3 {
      for after in 0..<3 {
        let text = Data([UInt8](repeating: 0x61, count: shift) + Array("s3cr?et>>".utf8) + [UInt8](repeating: 0x62, count: after))
          .base64EncodedString()
        for text in [text, text.replacing("+", with: "-").replacing("/", with: "_")] {
          let masked = try Self.mask("<\(text)>", ["A": "s3cr?et>>"])
          #expect(masked.contains("<concealed A>") && masked.count <= "<<concealed A>>".count + 2 * 3 + 4, "\(text): \(masked)")
        }
      }
    }
  }

  @Test func percentJSONAndLinesAreFound() throws {
    #expect(try Self.mask("x=a%20b%2Fc%C3%A9d&", ["A": "a b/céd"]) == "x=<concealed A>&")
    #expect(try Self.mask(#"{"x":"a\"b\nc\u0001d"}"#, ["A": "a\"b\nc\u{1}d"]) == #"{"x":"<concealed A>"}"#)
    for text in [
      "a%20b%2fc%c3%a9%21%27%26~", "a%20b/c%C3%A9%21%27%26~", "a%20b%2Fc%C3%A9!'%26~", "a+b%2Fc%C3%A9%21%27%26~",
      "a+b%2Fc%C3%A9%21%27%26%7E",
      "a+b%2fc%c3%a9%21%27%26%7e",
    ] {
      #expect(try Self.mask("x=\(text)&", ["A": "a b/cé!'&~"]) == "x=<concealed A>&", "\(text)")
    }
    for text in [#"a\/bé<&>😀c"#, #"a/bé\u003c\u0026\u003e😀c"#, #"a/b\u00e9<&>\ud83d\ude00c"#, #"a\/b\u00e9<&>\ud83d\ude00c"#] {
      #expect(try Self.mask("[\(text)]", ["A": "a/bé<&>😀c"]) == "[<concealed A>]", "\(text)")
    }
    #expect(try Self.mask(#"+ echo 'it'\''s x'"#, ["A": "it's x"]) == "+ echo '<concealed A>'")
    #expect(try Self.mask(#"+ echo $'it\'s\na\\b\001\E\177'"#, ["A": "it's\na\\b\u{1}\u{1B}\u{7F}"]) == "+ echo $'<concealed A>'")
    for text in [
      "a&amp;b&lt;c&gt;\"d'e", "a&amp;b&lt;c&gt;&quot;d'e", "a&amp;b&lt;c&gt;&quot;d&apos;e", "a&amp;b&lt;c&gt;&quot;d&#x27;e",
      "a&amp;b&lt;c&gt;&#34;d&#39;e", "a&amp;b&lt;c&gt;&quot;d&#39;e", "a&amp;b&lt;c&gt;&quot;d&#039;e",
    ] {
      #expect(try Self.mask("<p>\(text)</p>", ["A": "a&b<c>\"d'e"]) == "<p><concealed A></p>", "\(text)")
    }
    #expect(try Self.mask("[a&#10;b&#9;c&amp;d]", ["A": "a\nb\tc&d"]) == "[<concealed A>]")
    #expect(try Self.mask("2: line two\n1: one", ["A": "one\nline two\nthree"]) == "2: <concealed A>\n1: one")
    #expect(try Self.mask("one\r\ntwo", ["A": "one\ntwo"]) == "<concealed A>")
    #expect(try Self.mask("[s3cret]", ["A": " s3cret\n"]) == "[<concealed A>]")
  }

  @Test func theLongestAndTheFirstGiveTheName() throws {
    #expect(try Self.mask("abcdefgh abcdef", ["A": "abcdef", "B": "abcdefgh"]) == "<concealed B> <concealed A>")
    #expect(try Self.mask("abcdefghij", ["A": "abcdef", "B": "efghij"]) == "<concealed A>")
    #expect(try Self.mask("xabcdefx", ["A": "xabcdefx", "B": "abcdef"]) == "<concealed A>")
    #expect(try Self.mask("abcdef", ["A": "abcdef", "B": "abcdef"]) == "<concealed A>")
  }

  @Test func shortAndOrdinarySecretsAreRefused() throws {
    let secrets = try ConcealedSecrets()
    for (text, refusal) in [
      ("", ConcealedSecrets.Refusal.tooShort(byteCount: 0)), ("12345", .tooShort(byteCount: 5)), ("LocalHost", .ordinary),
      ("        ", .ordinary), ("123456", nil),
    ] as [(String, ConcealedSecrets.Refusal?)] {
      #expect(secrets.add(HeldSecret(try Secret(copying: Array(text.utf8))), named: "A") == refusal, "\(text)")
    }
  }

  /// Then all of it that comes in a row is concealed.
  @Test func aLongSecretIsKnownByItsBegin() throws {
    var random = SeededGenerator(seed: 5)
    let secret = (0..<5000).map { _ in UInt8.random(in: 11...255, using: &random) }
    let secrets = try Self.secrets([("A", secret)])
    for count in [255, 256, 257, 4000, 5000] {
      let masked = try Self.mask([0] + secret[..<count] + [0, 0], secrets) { 100 }
      #expect(masked == [0] + (count < 256 ? Array(secret[..<count]) : Array("<concealed A>".utf8)) + [0, 0], "\(count)")
    }
  }

  @Test func aSecretOfAMebibyteIsFoundInEachForm() throws {
    var random = SeededGenerator(seed: 6)
    let secret = (0..<1 << 20).map { _ in UInt8.random(in: 0...255, using: &random) }
    let secrets = try Self.secrets([("A", secret)])
    for text in [secret, Array(Data(secret).base64EncodedString(options: [.lineLength76Characters]).utf8)] {
      let masked = try Self.mask([0x20] + text + [0x20], secrets) { 65536 }
      #expect(masked.starts(with: Array(" <concealed A>".utf8)) && masked.count < 20)
    }
  }

  @Test func aShortTailIsReleasedAndTheRestConcealed() throws {
    let secrets = try Self.secrets([("A", Array("s3cret".utf8))])
    var masker = try OutputMasker(secrets)
    var result: [UInt8] = []
    func add(_ text: String) {
      _ = unsafe masker.fill { room in
        unsafe room.copyBytes(from: Array(text.utf8))
        return text.utf8.count
      }
      unsafe #expect(
        masker.write {
          unsafe result += $0
          return $0.count
        })
    }
    add("name s")
    #expect(masker.hasShortTail && result == Array("name ".utf8))
    masker.release()
    add("")
    #expect(!masker.hasShortTail && result == Array("name s".utf8))
    add("3cr")
    #expect(!masker.hasShortTail && result == Array("name s".utf8))
    add("et s3x")
    #expect(result == Array("name s<concealed A> s3x".utf8))
  }

  /// One byte of the output costs as much if a thousand lines begin with the bytes before it: by a comparison with each it would be a
  /// thousand times as much.
  @Test(arguments: [16, 255, 256, 300]) func linesThatBeginAlikeAreComparedAtOnce(blanks: Int) throws {
    let begin = [UInt8](repeating: 0x20, count: blanks)
    let lines = (0..<1000).map { begin + Array("\"key \($0)\": 1".utf8) }
    let secrets = try Self.secrets([("A", Array(lines.joined(separator: [0x0A])))])
    for text in [[UInt8](repeating: 0x20, count: 20_000), Array(lines[..<50].joined())] {
      var masker = try OutputMasker(secrets)
      var (offset, result): (Int, [UInt8]) = (0, [])
      func write() {
        unsafe #expect(
          masker.write {
            unsafe result += $0
            return $0.count
          })
      }
      while offset < text.count {
        offset += unsafe masker.fill { room in
          let part = text[offset...].prefix(room.count)
          unsafe room.copyBytes(from: part)
          return part.count
        }
        write()
      }
      masker.finish()
      write()
      #expect(masker.comparedCount < 3 * ConcealedSecrets.decisiveCount * text.count)
      #expect(String(decoding: result, as: UTF8.self).contains("key") == false)
    }
  }

  // MARK: Against the reference

  /// Small alphabets, so that secrets overlap with themselves and one another.
  private static func secret(_ random: inout SeededGenerator) -> [UInt8] {
    let alphabets: [[UInt8]] = [
      Array("ab".utf8), Array("ab\n".utf8), Array("abc \"/\n\r\t<'~*é€😀".utf8), Array(0...255), Array("s3cretXY".utf8),
    ]
    let alphabet = alphabets.randomElement(using: &random) ?? []
    let count =
      Int.random(in: 0..<20, using: &random) == 0
      ? Int.random(in: 250...700, using: &random) : Int.random(in: 6...24, using: &random)
    return (0..<count).map { _ in alphabet.randomElement(using: &random) ?? 0 }
  }

  /// About as many bytes in common as decide.
  private static func linesThatBeginAlike(_ random: inout SeededGenerator) -> [UInt8] {
    let begin = (0..<Int.random(in: 240...260, using: &random)).map { $0 % 3 == 0 ? UInt8(0x61) : 0x62 }
    return (0..<4).flatMap { _ in
      begin + (0..<Int.random(in: 0...20, using: &random)).map { _ in [0x61, 0x62, 0x22].randomElement(using: &random) ?? 0 } + [
        10
      ]
    }
  }

  private static func text(_ reference: ReferenceMasker, _ random: inout SeededGenerator) -> [UInt8] {
    var text: [UInt8] = []
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        text += (0..<Int.random(in: 0...12, using: &random)).map { _ in
          Array("ab \n\rs3%\\".utf8).randomElement(using: &random) ?? 0
        }
      default:
        guard let form = reference.forms.randomElement(using: &random) else { continue }
        var bytes = form.bytes
        // Whole, its begin, or its end; with line ends, or with a byte changed.
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
        case 1: bytes = Array(bytes.suffix(Int.random(in: 0...bytes.count, using: &random)))
        case 2:
          for _ in 0..<6 {
            bytes.insert([10, 13].randomElement(using: &random) ?? 10, at: Int.random(in: 0...bytes.count, using: &random))
          }
        case 3: bytes[Int.random(in: bytes.indices, using: &random)] ^= 1
        default: break
        }
        text += bytes
      }
    }
    return text
  }

  private static let rounds = isLong ? 100_000 : 500

  /// - Returns: The number of texts in which both differ.
  private static func differences(_ rounds: Int, seed: UInt64, _ change: (inout ReferenceMasker) -> Void = { _ in }) throws -> Int
  {
    var random = SeededGenerator(seed: seed)
    var count = 0
    for round in 0..<rounds {
      var values: [(name: String, bytes: [UInt8])] = []
      for index in 0..<Int.random(in: 1...3, using: &random) {
        let secret = Self.secret(&random)
        if !values.contains(where: { $0.bytes == secret }) { values.append(("S\(index)", secret)) }
      }
      // The begin of another secret.
      if round % 5 == 0, let first = values.first, first.bytes.count > 12 {
        values.append(("part", Array(first.bytes.prefix(8))))
      }
      if round % 7 == 0 { values.append(("lines", linesThatBeginAlike(&random))) }
      var reference = ReferenceMasker()
      for value in values { reference.add(value.bytes, named: value.name) }
      let secrets = try secrets(values)
      let text = text(reference, &random)
      change(&reference)
      let expected = reference.mask(text)
      let longest = [1, 3, 17, 65536].randomElement(using: &random) ?? 1
      let masked = try mask(text, secrets, capacity: 2048) { Int.random(in: 1...longest, using: &random) }
      if masked != expected { count += 1 }
    }
    return count
  }

  @Test func allCutsGiveTheOutputOfTheReference() throws {
    #expect(try Self.differences(Self.rounds, seed: 1) == 0)
  }

  @Test func aMaskerWithOtherFormsIsNoticed() throws {
    #expect(try Self.differences(400, seed: 2) { $0.forms.removeAll(where: \.isWrapped) } > 0)
  }

  private static let isLong = ProcessInfo.processInfo.environment["COFFER_LONG"] != nil

  /// Nothing is held back for long, so the memory stays the same.
  @Test func outputThatNeverEndsNeedsNoMoreMemory() throws {
    let secrets = try Self.secrets([("A", Array("ababab".utf8)), ("B", Array(repeating: 0x61, count: 500) + [0x62])])
    for piece in ["ababab", "aaaaaa", "61\n\n62"] {
      var masker = try OutputMasker(secrets, capacity: 4096)
      for _ in 0..<2_000 {
        let count = unsafe masker.fill { room in
          let bytes = Array(piece.utf8)
          guard room.count >= bytes.count else { return 0 }
          unsafe room.copyBytes(from: bytes)
          return bytes.count
        }
        #expect(count == piece.utf8.count)
        _ = unsafe masker.write { $0.count }
      }
    }
  }
}
