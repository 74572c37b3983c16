import CofferTesting
import Testing

@testable import AccessRights
@testable import SecretMemory
@testable import VaultCore

/// Samples of what a team signs.
struct SampleApp {
  let key: TeamSigningKey.Seed
  var team: TeamIdentifier { get throws { try key.signingKey().publicKey.identifier } }

  init(_ seed: UInt8) { key = TeamSigningKey.Seed(seed) }

  func manifest(
    _ identifier: String = "com.example.editor", version: UInt64 = 1, name: String = "Editor",
    executables: [Manifest.Executable] = [.init(path: "bin/editor", role: .app, digest: [UInt8](repeating: 1, count: 32))],
    keychain: [String] = [], groups: [String] = []
  ) throws -> Manifest {
    let team = try team
    return try Manifest(
      team: team, identifier: AppIdentifier(identifier), displayName: name, version: version, executables: executables,
      keychainAccessGroups: keychain.map { try AccessGroup("\(team).\($0)") },
      applicationGroups: groups.map { try AccessGroup("\(team).\($0)") })
  }

  func signed(_ manifest: Manifest) throws -> SignedManifest { try SignedManifest(signing: manifest, with: key.signingKey()) }
}

extension TeamSigningKey {
  /// A key cannot be kept in a value: it is made again.
  struct Seed {
    let byte: UInt8
    init(_ byte: UInt8) { self.byte = byte }
    func signingKey() throws -> TeamSigningKey {
      try TeamSigningKey(seed: Secret(copying: [UInt8](repeating: byte, count: 32)))
    }
  }
}

@Suite struct ManifestTests {
  let app = SampleApp(1)

  static func code(_ body: () throws -> Void) -> VaultError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? VaultError)?.code
    }
  }

  /// Computed by another implementation: Python's hashlib and base64 over the public key of RFC 8032's first test.
  @Test func theNameOfATeamIsItsKeysDigest() throws {
    let seed: [UInt8] = [
      0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44, 0x49, 0xc5, 0x69,
      0x7b,
      0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60,
    ]
    let key = try TeamSigningKey(seed: Secret(copying: seed))
    #expect(key.publicKey.bytes.prefix(4) == [0xd7, 0x5a, 0x98, 0x01])
    #expect(key.publicKey.identifier.text == "dm2rpt226cwinohp5ccffeemix24pydz")
    #expect(try TeamIdentifier("dm2rpt226cwinohp5ccffeemix24pydz") == key.publicKey.identifier)
    #expect(try key.copySeed().copyIntoUnprotectedBytes() == seed)
  }

  @Test(arguments: [
    "", "a", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "abcdefghijklmnopqrstuvwxyz23456", "abcdefghijklmnopqrstuvwxyz234561",
  ])
  func malformedTeamsAreRefused(text: String) { #expect(Self.code { _ = try TeamIdentifier(text) } == .teamMalformed) }

  @Test func keysOfAnotherLengthAreRefused() throws {
    #expect(Self.code { _ = try TeamKey([1, 2, 3]) } == .teamMalformed)
    #expect(Self.code { _ = try TeamSigningKey(seed: Secret(copying: [1, 2, 3])) } == .teamMalformed)
  }

  @Test(arguments: ["com.example.editor", "a.b", "com.Example-2.x1", "a." + String(repeating: "b", count: 153)])
  func identifiersAreReverseDomainNames(text: String) throws { #expect(try AppIdentifier(text).text == text) }

  @Test(arguments: [
    "", "editor", ".a.b", "a.b.", "a..b", "a.-b", "a.b-", "a.b/c", "../a.b", "a.b c", "a.\u{0}b", "a.ä", "a.b\n",
    "a." + String(repeating: "b", count: 154),
  ])
  func otherIdentifiersAreRefused(text: String) { #expect(Self.code { _ = try AppIdentifier(text) } == .manifestIdentifier) }

  @Test(arguments: ["", "/bin/x", "bin//x", "bin/../x", "./x", "x/.", "..", "bin/\u{7}", String(repeating: "x", count: 256)])
  func pathsStayInsideTheApp(path: String) {
    let executable = Manifest.Executable(path: path, role: .app, digest: [UInt8](repeating: 1, count: 32))
    #expect(Self.code { _ = try app.manifest(executables: [executable]) } == .manifestExecutable)
  }

  @Test func everyRuleHasItsError() throws {
    #expect(Self.code { _ = try app.manifest(version: 0) } == .manifestVersion)
    #expect(Self.code { _ = try app.manifest(name: "") } == .manifestName)
    #expect(Self.code { _ = try app.manifest(name: "a\u{1B}[2J") } == .manifestName)
    #expect(Self.code { _ = try app.manifest(name: String(repeating: "x", count: 256)) } == .manifestName)
    #expect(Self.code { _ = try app.manifest(executables: []) } == .manifestExecutable)
    let program = Manifest.Executable(path: "x", role: .app, digest: [UInt8](repeating: 1, count: 32))
    #expect(Self.code { _ = try app.manifest(executables: [program, program]) } == .manifestExecutable)
    #expect(Self.code { _ = try app.manifest(executables: [.init(path: "x", role: .app, digest: [1])]) } == .manifestExecutable)
    let many = (0...Manifest.maximumExecutableCount).map {
      Manifest.Executable(path: "\($0)", role: .tool, digest: program.digest)
    }
    #expect(Self.code { _ = try app.manifest(executables: many) } == .manifestExecutable)
    #expect(Self.code { _ = try app.manifest(keychain: ["a", "a"]) } == .manifestGroup)
    #expect(Self.code { _ = try app.manifest(groups: (0...Manifest.maximumGroupCount).map { "\($0)" }) } == .manifestGroup)
    let foreign = try AccessGroup("\(SampleApp(2).team).shared")
    for groups in [[foreign], [try AccessGroup("shared")], [try AccessGroup("\(app.team).")]] {
      #expect(
        Self.code {
          _ = try Manifest(
            team: app.team, identifier: AppIdentifier("a.b"), displayName: "x", version: 1, executables: [program],
            keychainAccessGroups: groups)
        } == .manifestGroup)
    }
  }

  @Test func aSignatureFitsOneManifestOfOneTeam() throws {
    let manifest = try app.manifest(version: 7, keychain: ["shared", "more"], groups: ["group"])
    let signed = try app.signed(manifest)
    #expect(try SignedManifest(manifest, teamKey: signed.teamKey, signature: signed.signature) == signed)
    let other = SampleApp(2)
    let program = Manifest.Executable(path: "bin/editor", role: .widget, digest: [UInt8](repeating: 1, count: 32))
    let changed = [
      try app.manifest("com.example.editon", version: 7, keychain: ["shared", "more"], groups: ["group"]),
      try app.manifest(version: 8, keychain: ["shared", "more"], groups: ["group"]),
      try app.manifest(version: 7, name: "editor", keychain: ["shared", "more"], groups: ["group"]),
      try app.manifest(version: 7, executables: [program], keychain: ["shared", "more"], groups: ["group"]),
      try app.manifest(version: 7, keychain: ["more", "shared"], groups: ["group"]),
      try app.manifest(version: 7, keychain: ["shared"], groups: ["more", "group"]),
      try app.manifest(version: 7, keychain: ["shared", "more"]),
    ]
    for manifest in changed {
      #expect(
        Self.code { _ = try SignedManifest(manifest, teamKey: signed.teamKey, signature: signed.signature) } == .manifestForged)
    }
    for index in [0, 31, 32, 63] {
      var signature = signed.signature
      signature[index] ^= 1
      #expect(Self.code { _ = try SignedManifest(manifest, teamKey: signed.teamKey, signature: signature) } == .manifestForged)
    }
    #expect(Self.code { _ = try SignedManifest(manifest, teamKey: signed.teamKey, signature: []) } == .manifestForged)
    let otherKey = try other.key.signingKey().publicKey
    #expect(Self.code { _ = try SignedManifest(manifest, teamKey: otherKey, signature: signed.signature) } == .manifestTeam)
    #expect(Self.code { _ = try other.signed(manifest) } == .manifestTeam)
  }

  /// In which order programs were written down does not matter: paths are sorted.
  @Test func theOrderOfProgramsIsTheirPaths() throws {
    let one = Manifest.Executable(path: "a", role: .app, digest: [UInt8](repeating: 1, count: 32))
    let two = Manifest.Executable(path: "b", role: .tool, digest: [UInt8](repeating: 2, count: 32))
    #expect(try app.manifest(executables: [one, two]) == app.manifest(executables: [two, one]))
  }

  /// The bytes are part of the format: a signature must fit in every version.
  @Test func theSignedBytesAreWrittenDown() throws {
    let message = SignedManifest.message(try app.manifest(version: 2, keychain: ["k"], groups: ["g"]))
    let team = try app.team.text
    var expected = Array("coffer/v1/manifest".utf8) + [0]
    expected += [32, 0, 0, 0] + Array(team.utf8) + [18, 0, 0, 0] + Array("com.example.editor".utf8)
    expected += [6, 0, 0, 0] + Array("Editor".utf8) + [2, 0, 0, 0, 0, 0, 0, 0]
    expected += [1, 0, 0, 0, 10, 0, 0, 0] + Array("bin/editor".utf8) + [1] + [UInt8](repeating: 1, count: 32)
    expected += [1, 0, 0, 0, 34, 0, 0, 0] + Array("\(team).k".utf8) + [1, 0, 0, 0, 34, 0, 0, 0] + Array("\(team).g".utf8)
    #expect(message == expected)
  }
}
