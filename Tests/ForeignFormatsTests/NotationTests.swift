import ForeignFormats
import ProgramSecrets
import SecretMemory
import Testing
import VaultCore

/// YAML and TOML of which a part is changed: what is read, what is refused, and every other byte stays.
@Suite struct NotationTests {
  static func changed(_ text: SourceText, _ edits: [TextEdit]) -> String {
    var bytes = (0..<text.count).map { text[$0] }
    for edit in edits.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
      bytes.replaceSubrange(edit.range, with: Array(edit.text.utf8))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func users(_ text: String) throws -> [String] {
    try KubeFormat.users(of: FormatTests.text(text)).map { user in
      "\(user.name) \(FormatTests.value(user.item.secret))\(user.obstacle.map { " \($0)" } ?? "")"
    }
  }

  // MARK: kubectl

  @Test(arguments: [
    "users:\n- name: a\n  user:\n    token: t\n", "users:\n  - user:\n      token: 't'\n    name: a\n",
    "---\nusers:\n-\n  name: \"a\"\n  user:\n   token: \"t\"", "users:\r\n- name: a\r\n  user:\r\n    token: t\r\n",
    "a: |\n  users:\n  - {\nb: >-\n\n   x: y\n\nusers: # here\n# or here\n- name:   a\n\n  user:\n    token: t\nx:\n- a\n",
    "users:\n- name: a\n  user:\n    token: t\nx: {}\ny: []\nz: 'it''s' # no\nv: \"\\\"\"\n",
  ])
  func everyFormOfABlockIsRead(text: String) throws {
    #expect(try Self.users(text) == ["a t"])
  }

  @Test(arguments: [
    "{}", "users: [{name: a}]\n", "users: &u\n- name: a\n", "users: *u\n", "users: !t x\n", "a:\n  <<: *x\n", "? a\n: b\n",
    "a: b\n  c\n", "a: \"b\n  c\"\n", "a: 'b\n", "a: b: c\n", "\ta: b\n", "a: b\n---\na: c\n", "%YAML 1.2\n---\na: b\n",
    "a: b\rc: d\n", "a: b\u{85}c: d\n", "a: b\u{2028}c: d\n", "a: - b\n", "a: \"b\" c\n", "a:\n- - b\n", "a: 'b'c\n", "a: @b\n",
    "a:\n - b\n  - c\n",
    "\"a\": b\n", "a: {} b\n", "a\n", "a: b\n...\n", "a:\n- b\n c: d\n",
  ])
  func anotherFormIsRefused(text: String) throws {
    #expect { try Self.users(text) } throws: { ($0 as? ForeignError)?.code == .notationUnknown }
  }

  @Test func aNameThatStandsTwiceIsRefused() throws {
    #expect(throws: ForeignError(.memberTwice, line: 5, "token")) {
      try Self.users("users:\n- name: a\n  user:\n    token: t\n    token: u\n")
    }
    let deep = (0..<40).map { String(repeating: " ", count: $0) + "a:\n" }.joined()
    #expect(throws: ForeignError(.tooDeep, line: 33)) { try Self.users(deep) }
  }

  @Test func onlyTheLinesOfTheCredentialChange() throws {
    let text = try FormatTests.text(
      "users:\n- name: a \n  user:\n      client-key-data: S0VZ\n      # c\n      as: b\n      client-certificate-data: Q0VSVA==")
    let users = try KubeFormat.users(of: text)
    #expect(users.map { FormatTests.value($0.item.secret) } == ["KEY"])
    #expect(users.map { $0.item.item[KubeFormat.certificate] } == ["CERT"])
    let exec = [
      "exec:", "  apiVersion: client.authentication.k8s.io/v1beta1", "  command: p", "  args:", "  - credential",
      "  - kubectl", "  - \"a\"", "  interactiveMode: IfAvailable",
    ].map { "      \($0)\n" }.joined()
    #expect(
      Self.changed(text, KubeFormat.edits(of: users, program: "p"))
        == "users:\n- name: a \n  user:\n\(exec)      # c\n      as: b\n")
  }

  // MARK: cargo

  static func tokens(_ text: String) throws -> [String] {
    try CargoFormat.tokens(of: FormatTests.text(text)).map { one in
      "\(one.item.line) \(one.registry) \(FormatTests.value(one.item.secret))\(one.isToken ? "" : " no token")"
    }
  }

  @Test func everyPlaceOfATokenIsRead() throws {
    #expect(
      try Self.tokens(
        """
        token = "a"
        registry.token = 'b'
        x = \"""
        [registry] "" \\\"""
        \"""
        [ registries . "m y" ] # c
        token="c"
        z = [ 1, # ]
          "]", { a.b = [ ], }, 1979-05-27 07:32:00Z,
        ]
        [registries.'d']
        secret-key = "e"
        token = "\\x"
        [other]
        token = "f"
        [[registries.g]]
        token = "h"
        [[registries.g]]
        token = "i"
        """) == ["1 crates-io a", "2 crates-io b", "7 m y c", "12 d e no token", "13 d  no token"])
  }

  @Test(arguments: [
    ("token = \"a", ForeignError.Code.quoteOpen), ("token = \"a\n\"", .quoteOpen), ("token", .notationUnknown),
    ("[a", .notationUnknown), ("[a] b = 1", .notationUnknown), ("a = 1 b = 2", .notationUnknown), ("a = [1", .cutOff),
    ("a = {b = 1", .cutOff), ("a = [1 2]", .notationUnknown), ("a =", .notationUnknown), ("a = 1\na = 2", .memberTwice),
    ("= 1", .notationUnknown), ("a..b = 1", .notationUnknown), ("registry = {token = \"a\"}", .notationUnknown),
    ("registries.a = {token = \"a\"}", .notationUnknown), ("[[a]\nb = 1", .notationUnknown), ("a = \"\"\"b\"\"", .quoteOpen),
    ("a = \(String(repeating: "[", count: 40))", .tooDeep),
  ])
  func whatIsNoTOMLIsRefused(text: String, code: ForeignError.Code) throws {
    #expect { try Self.tokens(text) } throws: { ($0 as? ForeignError)?.code == code }
  }

  @Test func aTokenGoesWithItsLine() throws {
    let text = try FormatTests.text(
      "[registry]\r\ntoken = \"a\"\r\n  token2 = 1\n[registries.b]\ntoken = 'c' # d\n[registries.e]\ntoken = 'f'")
    let tokens = try CargoFormat.tokens(of: text)
    #expect(
      Self.changed(text, CargoFormat.edits(of: tokens, in: text))
        == "[registry]\r\n  token2 = 1\n[registries.b]\n # d\n[registries.e]\n")
  }

  @Test(arguments: [
    ("", "[registry]\nN = [\"cargo:token\", \"p\"]\n"), ("[a]", "[a]\n\n[registry]\nN = [\"cargo:token\", \"p\"]\n"),
    ("[registry]", "[registry]\nN = [\"cargo:token\", \"p\"]\n"), ("[registry]\nN = []", "[registry]\nN = [\"p\"]"),
    ("[registry]\nN = [ 'a' , ]\n", "[registry]\nN = [ 'a', \"p\" , ]\n"), ("registry.N = [\"p\", \"a\"]", nil),
    ("[registry]\nN = [\"/x/p\"]", nil),
    ("[registry.x]\ny = 1\n", "[registry.x]\ny = 1\n\n[registry]\nN = [\"cargo:token\", \"p\"]\n"),
  ])
  func theProviderGetsItsPlace(text: String, result: String?) throws {
    let name = "global-credential-providers"
    let source = try FormatTests.text(text.replacing("N", with: name))
    let edit = try CargoFormat.asking("p", in: source)
    #expect(edit.map { Self.changed(source, [$0]) } == result?.replacing("N", with: name))
  }
}
