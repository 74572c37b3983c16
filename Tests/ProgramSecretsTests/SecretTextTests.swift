import ProgramSecrets
import SecretMemory
import Testing

@Suite struct SecretTextTests {
  private static func filled(_ text: String, _ secret: String = "s3cret") throws -> String {
    let held = HeldSecret(try Secret(copying: Array(secret.utf8)))
    let parts = try SecretText(template: Array(text.utf8)).resolved { reference in
      guard reference == "coffer://g/s/a" else { throw TextError(.referenceNotText) }
      return held
    }
    var bytes: [UInt8] = []
    for part in parts { part.withBytes { span in unsafe span.withUnsafeBytes { unsafe bytes += Array($0) } } }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(arguments: [
    ("{{ coffer://g/s/a }}", "s3cret"), ("{{coffer://g/s/a}}", "s3cret"),
    ("a{{ coffer://g/s/a }}b{{ coffer://g/s/a }}", "as3cretbs3cret"),
    ("{{ other }} {{", "{{ other }} {{"), ("", ""), ("{{{ coffer://g/s/a }}}", "{s3cret}"),
    ("{{ coffer://g/s/a | trim | sh }}", "'s3cret'"),
    ("coffer://g/s/a", "coffer://g/s/a"), ("}} {{ x {{ coffer://g/s/a }}", "}} {{ x s3cret"),
  ]) func referencesInBracesAreFilled(text: String, expected: String) throws {
    #expect(try Self.filled(text) == expected)
  }

  @Test(arguments: [
    ("json", "a\"b\\c\n\r\t\u{1}é", #""a\"b\\c\n\r\t\u0001é""#), ("sh", "it's $x", #"'it'\''s $x'"#),
    ("url", "a b/é~", "a%20b%2F%C3%A9~"),
    ("xml", "<&>\"'\n", "&lt;&amp;&gt;&quot;&#39;&#10;"), ("base64", "any", "YW55"), ("base64", "", ""),
    ("trim", " \n x y \r\n", "x y"),
    ("trim", " \n", ""), ("json", "", "\"\""),
  ]) func filtersWriteForALanguage(filter: String, secret: String, expected: String) throws {
    #expect(try Self.filled("{{ coffer://g/s/a | \(filter) }}", secret) == expected)
  }

  @Test func aFilterForTextRefusesOtherBytes() throws {
    let bytes = HeldSecret(try Secret(copying: [0x61, 0xFF]))
    for (filter, code) in [("json", TextError.Code.valueNotText), ("xml", .valueNotText)] {
      let text = try SecretText(template: Array("ab {{ coffer://g/s | \(filter) }}".utf8))
      let error = #expect(throws: TextError.self) { try text.resolved { _ in bytes } }
      #expect(error?.code == code && error?.offset == 3)
    }
    let control = HeldSecret(try Secret(copying: [0x61, 0x01]))
    let text = try SecretText(template: Array("{{ coffer://g/s | xml }}".utf8))
    #expect(throws: TextError(.valueNotXML)) { try text.resolved { _ in control } }
  }

  /// A secret has at most 1 MiB; six bytes for each do not fit into locked memory.
  @Test func aResultThatIsTooLargeIsRefused() throws {
    let large = HeldSecret(try Secret(count: 1 << 20))
    for (filter, isPossible) in [("url", false), ("json", false), ("base64", true), ("sh", true)] {
      let text = try SecretText(template: Array("{{ coffer://g/s | \(filter) }}".utf8))
      if isPossible {
        #expect(try text.resolved { _ in large }.contains { $0.count >= 1 << 20 })
      } else {
        #expect(throws: TextError(.valueTooLarge)) { try text.resolved { _ in large } }
      }
    }
  }

  @Test func positionsCountFromOne() {
    let bytes = Array("ab\né{{".utf8)
    #expect(TextPosition(0, in: bytes) == TextPosition(0, in: []))
    #expect(TextPosition(5, in: bytes).line == 2 && TextPosition(5, in: bytes).column == 2)
  }
}
