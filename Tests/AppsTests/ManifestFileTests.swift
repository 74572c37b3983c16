import AccessRights
import AppContainers
import CofferApps
import CofferPropertyLists
import CofferTesting
import Foundation
import Testing
import VaultCore

@Suite struct ManifestFileTests {
  private func parsed(_ text: String) throws -> ManifestFile { try ManifestFile(Array(text.utf8)) }

  @Test func aPersonWritesIt() throws {
    let bench = try Workbench()
    let file = try parsed(Workbench.manifest(version: 7, groups: "\"$(TEAM).data\""))
    let digest = [UInt8](repeating: 9, count: 32)
    let manifest = try file.manifest(of: bench.team, digests: ["bin/editor": digest, "bin/widget": digest])
    #expect(manifest.version == 7 && manifest.identifier.text == "com.example.editor" && manifest.displayName == "Editor")
    #expect(manifest.executables.map(\.role) == [.app, .widget])
    #expect(manifest.keychainAccessGroups.map(\.name) == ["\(try bench.team).shared"])
    #expect(manifest.applicationGroups.map(\.name) == ["\(try bench.team).data"])
    #expect(!file.isSigned)
  }

  static let broken: [(String, String)] = [
    ("Identifier", "Identifiers"), ("Identifier = \"com.example.editor\"", "Identifier = (a)"), ("Version = 1;", ""),
    ("Version = 1", "Version = one"), ("Version = 1", "Version = \"-1\""), ("Version = 1", "Version = \"\""),
    ("Path = \"bin/editor\";", ""), ("Role = widget", "Role = Widget"), ("Role = widget", "Roll = widget"),
    ("keychain-access-groups", "keychain-access-group"), ("( \"$(TEAM).shared\" )", "\"$(TEAM).shared\""),
    ("( \"$(TEAM).shared\" )", "((a))"), ("DisplayName = \"Editor\"", "DisplayName = {}"),
    ("( { Path", "( x, { Path"),
  ]

  @Test(arguments: broken) func unknownAndMissingKeysAreNamed(part: String, other: String) throws {
    let text = Workbench.manifest()
    #expect(text.contains(part))
    #expect(code { _ = try parsed(text.replacing(part, with: other)) } == "manifestField")
    #expect(code { _ = try parsed(text) } == nil)
  }

  @Test(arguments: ["", "text", "( a )", "<plist><dict></plist>"]) func invalidManifestsAreRefused(text: String) {
    #expect(code { _ = try parsed(text) } == "manifestUnreadable")
  }

  @Test func anotherTeamsNameIsRefused() throws {
    let (bench, other) = (try Workbench(), try Workbench(seed: 3))
    let named = Workbench.manifest().replacing("Version", with: "Team = \"\(try other.team)\"; Version")
    #expect(code { _ = try bench.signed(named) } == "manifestTeam")
    #expect(code { _ = try bench.signed(named.replacing("\(try other.team)", with: "$(TEAM)")) } == nil)
    #expect(code { _ = try bench.signed(Workbench.manifest(groups: "\"\(try other.team).data\"")) } == "manifestGroup")
  }

  @Test func aSignedManifestIsReadAgain() throws {
    let bench = try Workbench()
    let bytes = try bench.signed(Workbench.manifest(version: 3, groups: "\"$(TEAM).data\""))
    let signed = try SignedManifestFile.read(bytes)
    #expect(signed.manifest.version == 3 && signed.teamKey.identifier == signed.manifest.team)
    #expect(try SignedManifestFile.write(signed) == bytes)
    // Python's hashlib is another implementation of the digest.
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "python3", "-c", "import hashlib,sys; print(hashlib.blake2b(open(sys.argv[1],'rb').read(), digest_size=32).hexdigest())",
      bench.source + "/bin/editor",
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    #expect(text == signed.manifest.executables[0].digest.map { String(format: "%02x", $0) }.joined() + "\n")
  }

  @Test(arguments: ["com.example.editor", "data"]) func aStoreOfTheAppOrOfAGroupIsNamed(name: String) throws {
    let bench = try Workbench()
    let text = Workbench.manifest(groups: "\"$(TEAM).data\"")
    #expect(try parsed(text).store(of: SignedManifestFile.read(bench.signed(text)).manifest) == nil)
    let bytes = try bench.signed(
      text.replacing("Version", with: "\"ubiquity-kvstore-identifier\" = \"$(TEAM).\(name)\"; Version"))
    let signed = try SignedManifestFile.read(bytes)
    #expect(try SignedManifestFile.store(in: bytes, of: signed) == "\(try bench.team).\(name)")
    #expect(try SignedManifestFile.write(signed, store: "\(try bench.team).\(name)") == bytes)
  }

  /// The signature does not cover the key, so it may have signed names only.
  @Test(arguments: ["$(TEAM).com.example.other", "data", "com.example.editor", "$(TEAM).shared", ""])
  func anotherStoreIsRefused(name: String) throws {
    let bench = try Workbench()
    let text = Workbench.manifest(groups: "\"$(TEAM).data\"")
    let named = text.replacing("Version", with: "\"ubiquity-kvstore-identifier\" = \"\(name)\"; Version")
    #expect(code { _ = try bench.signed(named) } == "manifestField")
    // Changed after signing.
    let signed = String(decoding: try bench.signed(text), as: UTF8.self)
    let team = "\(try bench.team)"
    let change = "<key>ubiquity-kvstore-identifier</key><string>\(name.replacing("$(TEAM)", with: team))</string></dict>"
    let end = try #require(signed.range(of: "</dict>", options: .backwards))
    #expect(
      code { _ = try SignedManifestFile.read(Array(signed.replacingCharacters(in: end, with: change).utf8)) } == "manifestField")
  }

  @Test func theStoreOfAnInstalledAppIsRead() throws {
    let bench = try Workbench()
    var vault = try Vault.throwAway()
    let name = try bench.name()
    #expect(try ProgramOfApp.store(of: name, in: bench.data) == nil)
    let text = Workbench.manifest().replacing(
      "Version", with: "\"ubiquity-kvstore-identifier\" = \"$(TEAM).com.example.editor\"; Version")
    try bench.install(text, in: &vault)
    #expect(try ProgramOfApp.store(of: name, in: bench.data) == name)
    #expect(try bench.apps().bundle(name)?.store == name)
    let sandbox = try bench.apps().sandbox(of: name, executable: nil)
    #expect(sandbox.variables(of: name).contains { $0 == ("COFFER_APP_STORE", name) })
  }

  /// Each signed value, changed in the file.
  @Test(arguments: [
    ("<string>Editor<", "<string>Editors<"), ("com.example.editor", "com.example.editos"), ("<integer>1<", "<integer>2<"),
    ("bin/widget", "bin/midget"), ("<string>widget<", "<string>intents<"), (".shared", ".shares"),
  ])
  func aManifestChangedAfterSigningIsForged(part: String, other: String) throws {
    let bench = try Workbench()
    let text = String(decoding: try bench.signed(), as: UTF8.self)
    #expect(text.contains(part))
    let changed = text.replacing(part, with: other)
    #expect(code { _ = try SignedManifestFile.read(Array(changed.utf8)) } == "manifestForged")
  }

  @Test func partsOfTheSignatureAreNeeded() throws {
    let bench = try Workbench()
    guard case .dictionary(let whole) = try PropertyList.read(bench.signed()).value else { return #expect(Bool(false)) }
    func changed(_ key: String, _ value: PropertyListValue?) throws -> String? {
      var file = whole
      file[key] = value
      let bytes = try PropertyList.write(.dictionary(file), .xml)
      return code { _ = try SignedManifestFile.read(bytes) }
    }
    for key in ["TeamKey", "Signature", "Digests"] {
      #expect(try changed(key, nil) == "manifestField")
      #expect(try changed(key, .string("x")) == "manifestField")
    }
    #expect(try changed("TeamKey", .data([1])) == "teamMalformed")
    #expect(try changed("Signature", .data([UInt8](repeating: 0, count: 64))) == "manifestForged")
    #expect(try changed("Signature", .data([])) == "manifestForged")
    let other = try Workbench(seed: 3)
    #expect(try changed("TeamKey", .data(other.key().publicKey.bytes)) == "manifestTeam")
    guard case .dictionary(var digests)? = whole["Digests"] else { return #expect(Bool(false)) }
    digests["bin/more"] = .data([UInt8](repeating: 1, count: 32))
    #expect(try changed("Digests", .dictionary(digests)) == "manifestField")
    #expect(code { _ = try SignedManifestFile.read(Array(Workbench.manifest().utf8)) } == "manifestNotSigned")
  }

  @Test func theExecutablesMustBeThere() throws {
    let bench = try Workbench()
    #expect(code { _ = try bench.signed(Workbench.manifest().replacing("bin/widget", with: "bin/none")) } == "executableMissing")
    for path in ["../editor", "/bin/sh", "bin/../bin/editor"] {
      #expect(code { _ = try bench.signed(Workbench.manifest().replacing("bin/widget", with: path)) } == "manifestField")
    }
    try FileManager.default.createSymbolicLink(atPath: bench.source + "/bin/link", withDestinationPath: "/bin/sh")
    #expect(code { _ = try bench.signed(Workbench.manifest().replacing("bin/widget", with: "bin/link")) } == "symbolicLink")
  }

  @Test func anApplicationGroupIsTheNameOfADirectory() throws {
    let bench = try Workbench()
    #expect(code { _ = try bench.signed(Workbench.manifest(groups: "\"$(TEAM).a/../../b\"")) } == "manifestGroup")
  }

  @Test func lintWarnsOfProbableMistakes() throws {
    let bench = try Workbench()
    func warnings(_ text: String) throws -> Int {
      Lint.warnings(about: try SignedManifestFile.read(bench.signed(text)).manifest).count
    }
    let own = Workbench.manifest().replacing("$(TEAM).shared", with: "$(TEAM).com.example.editor")
    #expect(try warnings(own) == 0)
    #expect(try warnings(Workbench.manifest()) == 1)
    #expect(try warnings(own.replacing("{ Path = \"bin/editor\"; }, ", with: "")) == 1)
    #expect(try warnings(Workbench.manifest(groups: "\"$(TEAM).shared\"")) == 2)
  }
}
