import ForeignFormats
import Foundation
import ProgramSecrets
import SecretMemory
import Testing
import VaultCore

/// Files as the programs write them.
@Suite struct FormatTests {
  static func text(_ text: String) throws -> SourceText { try SourceText(Secret(copying: Array(text.utf8))) }

  static func value(_ held: HeldSecret) -> String { String(decoding: held.secret.copyIntoUnprotectedBytes(), as: UTF8.self) }

  /// `service account secret`, then companions.
  static func rows(_ found: ForeignItems) -> [String] {
    found.items.map { one in
      let item = one.item
      let companions = one.companions.map { " #\($0.field)=\(value($0.secret))" }.joined()
      return "\(item["service"] ?? item["server"] ?? "") \(item["account"] ?? "") \(value(one.secret))\(companions)"
    }
  }

  static func lost(_ found: ForeignItems) -> [String] { found.lost.map { "\($0.line) \($0.what) \($0.reason.rawValue)" } }

  @Test func variables() throws {
    let found = try DotenvFormat.items(
      of: Self.text("# a\nexport A='x $y'\nB=\"1\\n2\"\nC=\nD=coffer://g/s\nA=z # last\n"), service: "shop")
    #expect(Self.rows(found) == ["shop B 1\n2", "shop A z"])
    #expect(Self.lost(found) == ["4 C no-secret", "5 D elsewhere", "2 A other-kind"])
  }

  @Test func netrc() throws {
    let found = try NetrcFormat.items(
      of: Self.text(
        "# c\nmachine a login b password \"c \\\"d\\n\" account e\nmachine f login g password #h\nmachine i login j\n"
          + "machine a login b password other\ndefault login x password y\nmacdef init\ncd /\n\nmachine k password l\n"))
    #expect(Self.rows(found) == ["a b c \"d\n", "f g #h", "k  l"])
    #expect(Self.lost(found) == ["4 i no-secret", "5 a other-kind", "7 init macro", "6 default any-host"])
    #expect(found.items[0].item[Item.userPrefix + "netrc.account"] == "e")
  }

  @Test func gitCredentials() throws {
    let found = try GitCredentialsFormat.items(
      of: Self.text("https://ada:p%40s%3a@Example.org:8443/team/x\n# c\n\nhttps://only@example.org\nhttp://b:c:d@e\r\n"))
    #expect(Self.rows(found) == ["example.org ada p@s:", "e b c:d"])
    #expect(Self.lost(found) == ["4 https://example.org no-secret"])
    let item = found.items[0].item
    #expect(item["protocol"] == "https" && item["path"] == "/team/x" && item.attributes["port"] == .integer(8443))
    #expect(item.itemClass == .internetPassword)
  }

  @Test func docker() throws {
    let found = try DockerFormat.items(
      of: Self.text(
        """
        {"auths": {"https://index.docker.io/v1/": {"auth": "YWRhOmE6Yg==", "email": "a@b"},
         "ghcr.io": {"identitytoken": "id\\u0041", "registrytoken": "reg"}, "quay.io": {}, "x": {"username": "u", "password": "p"}},
         "HttpHeaders": {"a": [1, -2.5e3, true, null]}}
        """))
    #expect(Self.rows(found) == ["https://index.docker.io/v1/ ada a:b", "ghcr.io <token> idA #registrytoken=reg", "x u p"])
    #expect(Self.lost(found) == ["3 HttpHeaders setting", "2 quay.io elsewhere"])
    #expect(found.items.allSatisfy { $0.item[ForeignItem.kind] == "docker" })
  }

  @Test func npmrc() throws {
    let found = try NpmrcFormat.items(
      of: Self.text(
        "registry=https://r/\n; c\n//r/:_authToken=\"t=1\"\n//b/x/:username=u\n//b/x/:_password=cGFzcw==\n//c/:_auth=dTp2\n"
          + "//d/:_authToken=${T}\n_authToken=old\n//e/:email=a@b\n"))
    #expect(
      Self.rows(found) == ["r _authToken t=1", "b/x u pass", "c u v", "registry.npmjs.org _authToken old"])
    #expect(Self.lost(found) == ["1 registry setting", "7 //d/:_authToken elsewhere", "9 e no-secret"])
  }

  @Test func pypirc() throws {
    let found = try PypircFormat.items(
      of: Self.text(
        "[distutils]\nindex-servers =\n  pypi\n  corp\n\n[pypi]\nusername = __token__\npassword = pypi-x=%y\n[corp]\n"
          + "repository: https://p/\nusername: ada\n"))
    #expect(Self.rows(found) == ["pypi __token__ pypi-x=%y"])
    #expect(Self.lost(found) == ["2 index-servers setting", "9 corp no-secret"])
  }

  @Test func aws() throws {
    let found = try AWSFormat.items(
      of: Self.text(
        "[default]\naws_access_key_id = AK\naws_secret_access_key = a/b+c\nregion=eu\n[t]\naws_access_key_id=A\n"
          + "aws_secret_access_key=s\naws_session_token=tok==\n[p]\ncredential_process = x\n"))
    #expect(Self.rows(found) == ["aws default a/b+c", "aws t s #session-token=tok=="])
    #expect(Self.lost(found) == ["4 default: region setting", "9 p elsewhere"])
    #expect(found.items[0].item[AWSFormat.accessKey] == "AK")
  }

  /// As Python reads them: a line that is indented more than the setting before it is a part of that one, and no other line is.
  @Test func settingsOfSeveralLines() throws {
    let found = try AWSFormat.items(
      of: Self.text(
        "[a]\naws_access_key_id = A\naws_secret_access_key =\n  s\n[b]\n  aws_access_key_id = B\n  aws_secret_access_key = t\n"
          + "[c]\naws_secret_access_key = u\naws_session_token =\n\tv\n"))
    #expect(Self.rows(found) == ["aws b t"])
    #expect(Self.lost(found) == ["3 a: aws_secret_access_key continued", "10 c: aws_session_token continued"])
    let indexes = try PypircFormat.items(
      of: Self.text("[a]\nusername = u\npassword = one\n two\n[b]\nusername = u\npassword = p\nrepository = x\n y\n"))
    #expect(Self.rows(indexes) == ["b u p"])
    #expect(Self.lost(indexes) == ["3 a: password continued", "8 b: repository continued"])
    #expect(indexes.items.allSatisfy { $0.item[Item.userPrefix + "pypi.repository"] == nil })
  }

  @Test func aByteOrderMarkIsNoWord() throws {
    let mark = "\u{FEFF}"
    #expect(try Self.rows(NetrcFormat.items(of: Self.text("\(mark)machine h login u password p\n"))) == ["h u p"])
    #expect(try Self.rows(NpmrcFormat.items(of: Self.text("\(mark)//r/:_authToken=t\n"))) == ["r _authToken t"])
    #expect(
      try Self.rows(PypircFormat.items(of: Self.text("\(mark)[p]\nusername = u\npassword = s\n"))) == ["p u s"])
    #expect(try Self.rows(AWSFormat.items(of: Self.text("\(mark)[d]\naws_secret_access_key = s\n"))) == ["aws d s"])
  }

  // MARK: Refused

  private static func refusal(_ body: () throws -> ForeignItems) -> ForeignError? {
    do {
      _ = try body()
      return nil
    } catch { return error as? ForeignError }
  }

  @Test(arguments: [
    ("https://a:b@c\nx\n", ForeignError.Code.credentialMalformed, 2), ("https://c/d:e@f", .credentialMalformed, 1),
    ("\nhttps://a:%4@c", .percentMalformed, 2), ("https://a:%zz@c", .percentMalformed, 1), ("https://a:%00@c", .zeroByte, 1),
  ]) func badGitCredentials(text: String, code: ForeignError.Code, line: Int) throws {
    #expect(Self.refusal { try GitCredentialsFormat.items(of: Self.text(text)) } == ForeignError(code, line: line))
  }

  @Test(arguments: [
    ("machine a\nlogin", ForeignError.Code.cutOff, 2), ("machine a password \"b\n", .quoteOpen, 1),
    ("machine a b", .tokenUnknown, 1),
  ]) func badNetrc(text: String, code: ForeignError.Code, line: Int) throws {
    let refusal = Self.refusal { try NetrcFormat.items(of: Self.text(text)) }
    #expect(refusal?.code == code && refusal?.line == line)
  }

  @Test(arguments: [
    ("{", ForeignError.Code.cutOff, 1), ("", .cutOff, 1), ("[]", .otherShape, 1), ("{\"auths\":\n[]}", .otherShape, 2),
    ("{\"a\":1,\n\"a\":2}", .memberTwice, 2), ("{\"auths\":{\"a\":{\"auth\":\"!\"}}}", .base64Malformed, 1),
    ("{\"auths\":{\"a\":{\"auth\":\"YWI=\"}}}", .base64Malformed, 1), ("{}x", .notJSON, 1), ("{\"a\":tru}", .notJSON, 1),
    ("{\"a\":\"\\x\"}", .notJSON, 1), ("{\"a\":\"\n\"}", .notJSON, 1), ("{\"a\" 1}", .notJSON, 1),
    ("{\"a\":\(String(repeating: "[", count: 40))", .tooDeep, 1),
  ]) func badJSON(text: String, code: ForeignError.Code, line: Int) throws {
    let refusal = Self.refusal { try DockerFormat.items(of: Self.text(text)) }
    #expect(refusal?.code == code && refusal?.line == line, "\(String(describing: refusal))")
  }

  @Test(arguments: [
    ("a=b", ForeignError.Code.sectionMissing, 1), ("[a\n", .sectionOpen, 1), ("[a]\nb\n", .assignmentMissing, 2),
  ]) func badSections(text: String, code: ForeignError.Code, line: Int) throws {
    #expect(Self.refusal { try AWSFormat.items(of: Self.text(text)) } == ForeignError(code, line: line))
    #expect(Self.refusal { try PypircFormat.items(of: Self.text(text)) } == ForeignError(code, line: line))
  }

  @Test func otherBytesAreRefusedWithTheirLine() {
    func refusal(_ bytes: [UInt8]) -> ForeignError? {
      do {
        _ = try SourceText(Secret(copying: bytes))
        return nil
      } catch { return error as? ForeignError }
    }
    #expect(refusal([0x61, 0x0A, 0]) == ForeignError(.zeroByte, line: 2))
    #expect(refusal([0x61, 0x0A, 0xFF]) == ForeignError(.notUTF8, line: 2))
    #expect(refusal([0x61, 0x0A, 0xC3]) == ForeignError(.notUTF8, line: 2))
  }

  @Test func aFieldHasALimit() throws {
    let text = try Self.text("A=" + String(repeating: "x", count: SourceText.maximumFieldByteCount + 1))
    #expect(Self.refusal { try DotenvFormat.items(of: text, service: "s") } == ForeignError(.fieldTooLarge, line: 1))
  }
}

/// Differential tests, against Foundation and the standard library.
@Suite struct DifferentialTests {
  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 33)
    }
  }

  @Test func textIsWhatTheStandardLibraryTakes() {
    var generator = Generator(state: 1)
    let bytes: [UInt8] = [
      0, 0x41, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF,
    ]
    for _ in 0..<20_000 {
      let text = (0..<Int.random(in: 0...5, using: &generator)).map { _ in bytes.randomElement(using: &generator) ?? 0 }
      let isText = String(validating: text, as: UTF8.self) != nil && !text.contains(0)
      let isTaken = (try? SourceText(Secret(copying: text))) != nil
      #expect(isTaken == isText, "\(text)")
    }
  }

  @Test func stringsOfJSONAreFoundationsStrings() throws {
    var generator = Generator(state: 2)
    let letters: [Character] = ["a", "\"", "\\", "/", "\n", "\t", "\u{1}", "é", "€", "😀", "\u{7F}", "\u{2028}"]
    for _ in 0..<500 {
      let text = String(
        (0..<Int.random(in: 0...12, using: &generator)).map { _ in letters.randomElement(using: &generator) ?? "a" })
      for options in [JSONSerialization.WritingOptions(), .withoutEscapingSlashes] {
        let data = try JSONSerialization.data(withJSONObject: ["k": text], options: options)
        let source = try SourceText(Secret(copying: [UInt8](data)))
        #expect(try JSONText(of: source)["k"]?.text(in: source)?.utf8.elementsEqual(text.utf8) == true)
      }
    }
    for (escape, meant) in [("\\ud83d\\ude00", "😀"), ("\\uD83D\\uDE00x", "😀x"), ("\\u00e9", "é")] {
      let source = try FormatTests.text("\"\(escape)\"")
      #expect(try JSONText(of: source).text(in: source) == meant)
    }
    // A program that took the replacement character for it would change a password.
    for half in ["\\ud83d", "\\ude00x", "\\ud83d\\u0041", "\\ud83dx", "\\ud83d\\ud83d"] {
      #expect(throws: ForeignError(.halfCharacter, line: 2)) { try JSONText(of: FormatTests.text("\n\"\(half)\"")) }
    }
  }

  @Test func base64IsFoundations() throws {
    var generator = Generator(state: 3)
    for count in 0..<200 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let text = Array(Data(bytes).base64EncodedString().utf8)
      #expect(try Base64.decode(Secret(copying: text))?.copyIntoUnprotectedBytes() == bytes)
      let bare = Array(text.prefix { $0 != UInt8(ascii: "=") })
      #expect(try Base64.decode(Secret(copying: bare))?.copyIntoUnprotectedBytes() == bytes)
    }
    for bad in ["a", "a===", "ab=", "a b=", "ab*=", "=abc", "abc==", "abcd="] {
      let isRefused = try Base64.decode(Secret(copying: Array(bad.utf8))) == nil
      #expect(isRefused, "\(bad)")
    }
  }

  /// A file that is cut off anywhere is refused, or has a part of its items.
  @Test func aCutFileHasNoOtherItems() throws {
    let file = "{\"auths\":{\"a\":{\"auth\":\"YTpi\"},\"b\":{\"identitytoken\":\"x\"}}}"
    for count in 0..<file.utf8.count {
      #expect(throws: ForeignError.self) { try DockerFormat.items(of: FormatTests.text(String(file.prefix(count)))) }
    }
  }
}
