import CofferPropertyLists
import CofferTesting
import Foundation
import LeakDetection
import Testing

/// Values that must not be found.
@Suite struct OrdinaryValueTests {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")

  static func corpus() throws -> [(file: String, key: String, value: PropertyListValue)] {
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".plist") }.sorted()
    return try files.flatMap { file in
      let bytes = [UInt8](try Data(contentsOf: folder.appending(path: file)))
      guard case .dictionary(let values) = try PropertyList.read(bytes).value else { throw CocoaError(.propertyListReadCorrupt) }
      return values.sorted.map { (file, $0.key, $0.value) }
    }
  }

  static func leafCount(_ value: PropertyListValue) -> Int {
    switch value {
    case .array(let elements): elements.reduce(0) { $0 + leafCount($1) }
    case .dictionary(let members): members.sorted.reduce(0) { $0 + leafCount($1.value) }
    default: 1
    }
  }

  @Test("ordinary preferences raise no alarm")
  func corpusIsSilent() throws {
    let corpus = try Self.corpus()
    #expect(corpus.reduce(0) { $0 + Self.leafCount($1.value) } >= 400)
    for (file, key, value) in corpus {
      let findings = LeakDetector.findings(key: key, value: value)
      #expect(findings.isEmpty, "\(file): \(findings)")
    }
  }

  static let words = """
    about above access account action after again application archive article author background balance because before between bundle \
    button calendar camera change channel clock cloud collection column comment company connection container content context controller \
    counter country cursor customer default delegate description desktop developer dictionary directory display document download editor \
    element engine environment example export extension favourite feature field filter finder folder format frame function gallery general \
    gesture government graphic handler header height history horizontal identifier image import index information inspector interface item \
    journal keyboard language layout library license location machine manager measure memory message method minimum mobile monitor mountain \
    navigator network notification number object observer option outline package palette paragraph people picture pointer position preference \
    printer process product profile project property protocol question receiver record reference region remember request resource response \
    result schedule screen search section selection separator service session setting shadow sidebar simulator snapshot source special \
    spelling standard station status storage string structure summary support surface system template terminal texture thumbnail timeline \
    toolbar transaction transition translate updater utility value variable version vertical visible volume weather window workspace
    """.split(separator: " ").map(String.init)

  /// Identifiers in all notations, sentences, names of files and hosts.
  static func written(_ random: inout SeededGenerator) -> String {
    let count = Int.random(in: 1...6, using: &random)
    let chosen = (0..<count).map { _ in words[Int.random(in: 0..<words.count, using: &random)] }
    let number = Int.random(in: 0...2030, using: &random)
    switch Int.random(in: 0..<9, using: &random) {
    case 0: return chosen.joined(separator: " ")
    case 1: return chosen.joined(separator: " ").capitalized + "."
    case 2: return chosen.joined(separator: "_")
    case 3: return chosen.joined(separator: "-") + "-\(number)"
    case 4: return "com." + chosen.joined(separator: ".")
    case 5: return chosen[0] + chosen.dropFirst().map(\.capitalized).joined()
    case 6: return chosen.map(\.capitalized).joined() + "\(number)"
    case 7: return "/" + chosen.joined(separator: "/") + ".txt"
    default: return chosen.joined(separator: "_").uppercased()
    }
  }

  @Test(arguments: [11, 12, 13] as [UInt64]) func textWrittenByPeopleIsNotFound(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let names = ["token", "apiKey", "auth", "credentials.mail", "accessToken"]
    for index in 0..<10_000 {
      let text = Self.written(&random)
      let key = index.isMultiple(of: 2) ? Self.written(&random) : names[index / 2 % names.count]
      let findings = LeakDetector.findings(key: key, value: .string(text))
      #expect(findings.isEmpty, "\(key) = \(text): \(findings)")
    }
  }

  @Test(arguments: [21, 22, 23] as [UInt64]) func randomTextIsFoundUnderASecretName(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let names = [
      "password", "token", "apiKey", "api_key", "CLIENT_SECRET", "auth-token", "credential", "privateKey", "passphrase",
    ]
    for index in 0..<2_000 {
      let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
      let base64 = Data(bytes).base64EncodedString()
      let hex = bytes.map { String(format: "%02x", $0) }.joined()
      let name = names[index % names.count]
      for text in [
        base64, hex, hex.uppercased(), base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""),
      ] {
        #expect(LeakDetector.findings(key: name, value: .string(text)).count == 1, "\(name) = \(text)")
        #expect(LeakDetector.findings(key: "checksum", value: .string(text)).isEmpty, "\(text)")
      }
    }
  }

  @Test func namesAboutSecretsAreNone() {
    var maker = SampleMaker(random: SeededGenerator(seed: 31))
    for key in [
      "tokenCount", "passwordFieldVisible", "secretSanta", "showPassword", "keyboard", "author", "tokenizer", "compass",
      "bypassList",
      "passwordHash", "tokenURL", "secretName", "primaryKey", "publicKey", "nextPageToken", "syncToken", "deviceToken",
      "authMode",
      "rememberPassword", "maxTokens", "passwordFile", "apiKeyIdentifier", "cacheKey", "hotkey", "monkey", "secretary",
      "checksum", "sessionIDCount", "syncSessionID", "window.sessionid", "sessionName", "session", "assessment", "possession",
      "passport", "boardingPass", "passCount", "showPasswords",
    ] where key != "secretSanta" {
      #expect(LeakDetector.findings(key: key, value: .string(maker.any(40))).isEmpty, "\(key)")
    }
    #expect(LeakDetector.findings(key: "secretSanta", value: .string("Alice")).isEmpty)
  }

  /// The text before an equals sign is not always the name of a variable, and the text after it not always a value.
  @Test(arguments: [
    "Set DB_PASSWORD=hunter2 before the first start", "If you lose it, password=lost applies", "(password=hunter2)",
    "PWD=/home/ada/src\nOLDPWD=/home/ada", "env PWD=/home/ada ls", "env PASSWORD=$SECRET ./run", "export PASSWORD=${1}",
    "passwordLength=12", "showPassword=true", "password=\nuser=ada", "PASSWORD_FILE=/run/secrets/db", "--password=ask",
    "Password: incorrect", "token: changed later", "password: ${DB_PASSWORD}", "passwords: see below", "user: {password: none}",
    "password:\n  valueFrom: x", "curl -u $USER:$PASS https://example.org", "mysql -u root -p app", "docker run -p 8080:80 image",
    "ssh -p 2222 example.org", "Use --password to set it", "login --password PASSWORD", "<password></password>",
    "<label>Password</label>", "define('PASSWORD_LENGTH', '12')", "if password != stored", "10:20:30:40:50", "a:5432:b",
    "jdbc:oracle:thin:@db.example.org:1521:x", "token=word", "TOKEN=changed later", "password==hash", "sessionid=none",
    "a.password=b.password && c",
  ])
  func equationsAreNone(_ text: String) {
    #expect(LeakDetector.findings(key: "note", value: .string(text)).isEmpty)
  }

  /// git's `user.signingKey` names a key, and labels are stored under the names of their fields.
  @Test func namesOfKeysAndTextsAreNone() {
    var maker = SampleMaker(random: SeededGenerator(seed: 32))
    for (key, text) in [
      ("user.signingKey", maker.hex(16).uppercased()), ("user.signingkey", maker.hex(40).uppercased()),
      ("signingKey", "0x" + maker.hex(16)),
      ("password", "Mot de passe"), ("password", "Type your password here"), ("secret", "Geheimnis des Tages"),
      ("password", "what is your password?"), ("publishableKey.token", "pk_" + "live_" + maker.any(24)),
    ] {
      #expect(LeakDetector.findings(key: key, value: .string(text)).isEmpty, "\(key) = \(text)")
    }
  }

  @Test func sessionsAndPassesAreNotAlwaysSecret() {
    for (key, text) in [
      ("sessionID", "539EC7D8-E9D0-4897-81C0-002F31D06EFF"), ("session_id", "1700000000-0"), ("sessionid", "editor-main-window"),
      ("pass", "second"), ("pass", "render-shadows"), ("passwords", "stored"), ("tokens", "if else guard"),
    ] {
      #expect(LeakDetector.findings(key: key, value: .string(text)).isEmpty, "\(key) = \(text)")
    }
  }

  /// No rule scans the rest of a text again for each place where it might begin: 256 KiB would take minutes.
  @Test(
    .timeLimit(.minutes(60)),
    arguments: [
      "1Q~", "a:12:b:c:", "password: \"a ", "{password: ,", "host=a password=ab ", "<password>", "'password' => ", "mysql -p ",
      "--password ", "define('password', ", "AAAA-", "password                   = ",
    ])
  func timeGrowsWithTheSizeAlone(part: String) {
    func time(_ size: Int) -> Duration {
      let text = String(repeating: part, count: size / part.utf8.count)
      return (0..<3).map { _ in ContinuousClock().measure { _ = LeakDetector.findings(key: "note", value: .string(text)) } }.min()
        ?? .zero
    }
    let (small, large) = (time(16 << 10), time(256 << 10))
    // Sixteen times the size: a quadratic rule would take 256 times as long.
    #expect(large < small * 100 || large < .milliseconds(500), "\(small) and \(large)")
  }

  /// The detector returns for texts of any size with any bytes, and for deep values.
  @Test func anyValueHasAnAnswer() throws {
    var random = SeededGenerator(seed: 41)
    let signs = Array(
      "={}\":;/@ -._$<>%\n\teyJghp_sk-Basic BearerpasswordtokenBEGIN PRIVATE KEY-----machine login:// 09äß\u{1F511}")
    for _ in 0..<3_000 {
      let text = String(
        (0..<Int.random(in: 0...60, using: &random)).map { _ in signs[Int.random(in: 0..<signs.count, using: &random)] })
      _ = LeakDetector.findings(key: text, value: .string(text))
      _ = LeakDetector.findings(key: "password", value: .data(Array(text.utf8)))
    }
    var value = PropertyListValue.string("end")
    for _ in 0..<PropertyList.maximumDepth { value = .array([value]) }
    #expect(LeakDetector.findings(key: "deep", value: value).isEmpty)
  }
}
