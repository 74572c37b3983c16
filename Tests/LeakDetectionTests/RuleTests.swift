import CofferPropertyLists
import CofferTesting
import LeakDetection
import Testing

/// Values that must be found.
@Suite struct RuleTests {
  static func samples(seed: UInt64 = 1) -> [Sample] {
    var maker = SampleMaker(random: SeededGenerator(seed: seed))
    return maker.all()
  }

  @Test("every kind of secret is found, by its own rule", arguments: [1, 2, 3, 4, 5] as [UInt64])
  func everySampleIsFound(seed: UInt64) {
    for sample in Self.samples(seed: seed) {
      let findings = LeakDetector.findings(key: sample.key, value: .string(sample.text))
      #expect(findings == [Finding(rule: sample.rule, key: sample.key)], "\(sample.rule): \(sample.key) = \(sample.text)")
    }
  }

  @Test func everyRuleHasASampleThatNoOtherRuleFinds() {
    let samples = Self.samples()
    for rule in LeakRules.all {
      #expect(samples.contains { $0.rule == rule.name }, "\(rule.name) has no sample")
      for sample in samples {
        let isMeant = rule.name == sample.rule || sample.others.contains(rule.name)
        #expect(rule.matches(sample.key, sample.text) == isMeant, "\(rule.name) and \(sample.key) = \(sample.text)")
      }
    }
  }

  @Test func rulesHaveNamesOfTheirOwn() {
    #expect(Set(LeakRules.all.map(\.name)).count == LeakRules.all.count)
    #expect(LeakRules.all.allSatisfy { !$0.source.isEmpty })
  }

  @Test("A token is found inside a text, but not inside a longer word")
  func tokensHaveEnds() {
    for sample in Self.samples() where ["github-token", "npm-token", "aws-access-key", "sendgrid-key"].contains(sample.rule) {
      for text in [
        "export T=\(sample.text)", "(\(sample.text))", "\(sample.text)\n", "Ünïcode „\(sample.text)“", "x_\(sample.text)",
      ] {
        #expect(LeakDetector.findings(key: "note", value: .string(text)).map(\.rule) == [sample.rule], "\(text)")
      }
      #expect(LeakDetector.findings(key: "note", value: .string("x\(sample.text)")).isEmpty)
    }
  }

  @Test("A token that is cut short is none")
  func tokensHaveLengths() {
    for sample in Self.samples() {
      guard
        ["npm-token", "aws-access-key", "google-api-key", "twilio-key", "age-key", "digitalocean-token"].contains(sample.rule)
      else {
        continue
      }
      #expect(LeakDetector.findings(key: "note", value: .string(String(sample.text.dropLast()))).isEmpty, "\(sample.text)")
    }
  }

  @Test func findingsNameThePlace() {
    var maker = SampleMaker(random: SeededGenerator(seed: 7))
    let token = "ghp" + "_" + maker.any(36)
    var server = PropertyListDictionary()
    server["token"] = .string(token)
    server["name"] = .string("production")
    let value = PropertyListValue.array([.string("none"), .integer(1), .dictionary(server)])
    #expect(LeakDetector.findings(key: "servers", value: value).map(\.path) == ["servers[2].token"])
    #expect(
      LeakDetector.findings(key: "servers", value: value) == [
        Finding(rule: "github-token", key: "servers", steps: [.element(2), .member("token")])
      ])
  }

  @Test func namesOfContainersCount() {
    var maker = SampleMaker(random: SeededGenerator(seed: 8))
    var members = PropertyListDictionary()
    members["mail.example.org"] = .string(maker.any(32))
    members["label"] = .string(maker.any(32))
    #expect(
      LeakDetector.findings(key: "tokens", value: .dictionary(members)) == [
        Finding(rule: "secret-name", key: "tokens", steps: [.member("mail.example.org")])
      ])
    #expect(LeakDetector.findings(key: "passwords", value: .array([.string("hunter2")])).map(\.path) == ["passwords[0]"])
  }

  @Test func dataIsLookedInto() throws {
    var maker = SampleMaker(random: SeededGenerator(seed: 9))
    for count in [30, 36, 48, 80, 120] {
      let token = "xox" + "b-" + maker.any(count)
      let text = PropertyListValue.data(Array("token \(token)\n".utf8))
      #expect(LeakDetector.findings(key: "log", value: text) == [Finding(rule: "slack-token", key: "log")])
      var members = PropertyListDictionary()
      members["$objects"] = .array([.string("$null"), .string(token)])
      let archive = PropertyListValue.data(try PropertyList.write(.dictionary(members), .binary))
      #expect(LeakDetector.findings(key: "state", value: archive) == [Finding(rule: "slack-token", key: "state")])
      let nested = PropertyListValue.data(
        try PropertyList.write(
          .dictionary(
            {
              members["a"] = archive
              return members
            }()), .binary))
      #expect(LeakDetector.findings(key: "state", value: nested) == [Finding(rule: "slack-token", key: "state")])
    }
  }

  /// A list of a kilobyte can reference one value so often that decoding it fills the memory. It is not decoded.
  @Test(.timeLimit(.minutes(60))) func archivesThatUnfoldAreLookedThrough() {
    var maker = SampleMaker(random: SeededGenerator(seed: 14))
    let token = Array(("npm" + "_" + maker.any(36)).utf8)
    var list: [UInt8] = Array("bplist00".utf8)
    // 200,000 arrays, each with fifteen references to the next; markers without a string; then the token.
    for index in 0..<200_000 { list += [0xAF] + [UInt8](repeating: UInt8(index & 0xFF), count: 4) }
    for _ in 0..<100_000 { list += [0x5F, 0x12, 0x00, 0x0F, 0xFF, 0xFF] }
    list += [0x5F, 0x10, UInt8(token.count)] + token + [0x5F, 0x10]
    #expect(LeakDetector.findings(key: "state", value: .data(list)) == [Finding(rule: "npm-token", key: "state")])
  }

  /// A dictionary of tokens and their purposes. The finding shows at most four characters of the name.
  @Test func aTokenIsFoundAsAKey() {
    var maker = SampleMaker(random: SeededGenerator(seed: 15))
    let token = "npm" + "_" + maker.any(36)
    let asKey = LeakDetector.findings(key: token, value: .string("laptop"))
    #expect(asKey == [Finding(rule: "npm-token", key: token, isInName: true)])
    #expect(asKey.map(\.path) == ["npm_…"])
    var members = PropertyListDictionary()
    members[token] = .dictionary(PropertyListDictionary())
    let asMember = LeakDetector.findings(key: "tokens", value: .array([.dictionary(members)]))
    #expect(asMember == [Finding(rule: "npm-token", key: "tokens", steps: [.element(0), .member(token)], isInName: true)])
    #expect(asMember.map(\.path) == ["tokens[0].npm_…"])
  }

  @Test func bytesAreSecretUnderANameAlone() {
    var random = SeededGenerator(seed: 10)
    for _ in 0..<200 {
      let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(LeakDetector.findings(key: "blob", value: .data(bytes)).isEmpty)
      #expect(
        LeakDetector.findings(key: "encryptionKey", value: .data(bytes)) == [Finding(rule: "secret-name", key: "encryptionKey")])
    }
  }

  @Test func numbersAreSecretUnderThePlainestNamesAlone() {
    #expect(LeakDetector.findings(key: "password", value: .integer(19_701_231)).map(\.rule) == ["secret-name"])
    #expect(LeakDetector.findings(key: "pin", value: .integer(4711)).map(\.rule) == ["secret-name"])
    for key in ["token", "passwordCount", "showPassword", "pinCount"] {
      #expect(LeakDetector.findings(key: key, value: .integer(19_701_231)).isEmpty, "\(key)")
    }
    #expect(LeakDetector.findings(key: "password", value: .integer(1)).isEmpty)
    #expect(LeakDetector.findings(key: "password", value: .boolean(true)).isEmpty)
  }

  @Test func aReferenceIsNeverFound() {
    for key in ["password", "token", "apiKey", "note"] {
      for reference in ["coffer://standard/example.org/password", "coffer://work/db.example.org/servers%5B2%5D.token#secret"] {
        #expect(LeakDetector.findings(key: key, value: .string(reference)).isEmpty)
      }
    }
    var maker = SampleMaker(random: SeededGenerator(seed: 12))
    let token = "npm" + "_" + maker.any(36)
    #expect(!LeakDetector.findings(key: "note", value: .string("coffer://standard/a and \(token)")).isEmpty)
  }
}
