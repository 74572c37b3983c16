import AccessRights
import Coffer
import CofferStorage
import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore

/// Two apps of one team and one of another, in one vault.
struct Teams {
  let store = TurnStore()
  let editor: SignedManifest
  let viewer: SignedManifest
  let stranger: SignedManifest
  let team: TeamIdentifier

  static func signed(
    _ seed: UInt8, _ identifier: String, keychain: [String] = [], version: UInt64 = 1, digest: [UInt8]? = nil
  ) throws -> SignedManifest {
    let key = try TeamSigningKey(seed: Secret(testing: [UInt8](repeating: seed, count: 32)))
    let team = key.publicKey.identifier
    let program = Manifest.Executable(path: "bin/x", role: .app, digest: digest ?? [UInt8](repeating: seed, count: 32))
    return try SignedManifest(
      signing: Manifest(
        team: team, identifier: AppIdentifier(identifier), displayName: identifier, version: version, executables: [program],
        keychainAccessGroups: keychain.map { try AccessGroup("\(team).\($0)") }), with: key)
  }

  private let transport: Transport
  private let agents = Agents()
  private let system: SystemTeams?

  /// Kept for as long as the test runs.
  private final class Agents { var all: [AgentBench] = [] }

  init(_ transport: Transport = .inProcess) throws {
    self.transport = transport
    let system = transport == .system ? try SystemTeams() : nil
    self.system = system
    func digest(_ program: String) throws -> [UInt8]? { try system?.makeProgram(program) }
    editor = try Self.signed(1, "com.example.editor", keychain: ["shared"], digest: digest("editor"))
    viewer = try Self.signed(1, "com.example.viewer", keychain: ["shared"], digest: digest("viewer"))
    // The same name, another team.
    stranger = try Self.signed(2, "com.example.editor", digest: digest("stranger"))
    team = editor.manifest.team
    if let system {
      for app in [editor, viewer, stranger] { try system.install(app) }
      return
    }
    var vault = try Vault.throwAway(in: store)
    try vault.transaction { transaction in
      for app in [editor, viewer, stranger] { _ = try transaction.install(app, at: .test) }
    }
  }

  func keychain(_ app: SignedManifest) throws -> Keychain {
    switch transport {
    case .inProcess: return try Keychain(Vault.openThrowAway(store), as: .app(app))
    case .socket:
      let bench = try AgentBench(store, app)
      agents.all.append(bench)
      return bench.keychain
    case .system:
      let programs = [(editor, "editor"), (viewer, "viewer"), (stranger, "stranger")]
      let name = app.manifest.applicationIdentifier
      return try system!.keychain(programs.first { $0.0.manifest.applicationIdentifier == name }!.1)
    }
  }

  var owner: Keychain { get throws { try system?.owner ?? Keychain(Vault.openThrowAway(store), as: .owner) } }

  // MARK: The owner

  func install(_ app: SignedManifest) throws {
    if let system { return try system.install(app) }
    var vault = try Vault.openThrowAway(store)
    _ = try vault.transaction { try $0.install(app, at: .test) }
  }

  func remove(_ app: SignedManifest) throws {
    if let system { return try system.remove(app) }
    var vault = try Vault.openThrowAway(store)
    try vault.transaction { try $0.markRemoved(app.manifest.applicationIdentifier, at: .test) }
  }

  func grant(
    _ rights: Entitlements.Rights, in group: AccessGroup, to app: SignedManifest, asksForConfirmation: Bool = false
  ) throws {
    let name = app.manifest.applicationIdentifier
    if let system { return try system.owner.grant(rights, in: group, to: name, asksForConfirmation: asksForConfirmation) }
    var vault = try Vault.openThrowAway(store)
    try vault.transaction { try $0.put(Grant(to: name, group, rights, asksForConfirmation: asksForConfirmation, at: .test)) }
  }

  func revoke(_ group: AccessGroup, of app: SignedManifest) throws {
    let name = app.manifest.applicationIdentifier
    if let system { return try system.owner.revoke(group, of: name) }
    var vault = try Vault.openThrowAway(store)
    try vault.transaction { try $0.removeGrant(to: name, group) }
  }
}

@Suite struct KeychainTests {
  let item = Item(service: "mail", account: "ada")

  static func code<Result: ~Copyable>(_ body: () throws -> Result) -> KeychainError.Code? {
    do {
      _ = try body()
      return nil
    } catch {
      return (error as? KeychainError)?.code
    }
  }

  static func text(_ secret: borrowing Secret) -> String {
    String(decoding: secret.copyIntoUnprotectedBytes(), as: UTF8.self)
  }

  @Test("apps of one team share an item, and no other app sees it", arguments: Transport.allCases) func sharing(
    _ transport: Transport
  ) throws {
    let teams = try Teams(transport)
    let (editor, viewer, stranger) = (
      try teams.keychain(teams.editor), try teams.keychain(teams.viewer), try teams.keychain(teams.stranger)
    )
    let reference = try editor.add(item, secret: Secret(testing: "one"))
    #expect(reference.group.name == "\(teams.team).shared")
    #expect(try viewer.item(KeychainQuery(service: "mail", account: "ada")).reference == reference)
    #expect(try Self.text(viewer.secret(of: reference)) == "one")
    try viewer.update(reference, secret: Secret(testing: "two"))
    #expect(try Self.text(editor.secret(of: reference)) == "two")

    #expect(try stranger.items().isEmpty)
    #expect(try stranger.items(KeychainQuery(service: "mail", account: "ada")).isEmpty)
    let group = reference.group
    #expect(Self.code { try stranger.items(KeychainQuery(group: group)) } == .missingEntitlement)
    #expect(Self.code { try stranger.items(KeychainQuery(service: "mail", account: "ada", group: group)) } == .missingEntitlement)
    #expect(Self.code { try stranger.secret(of: reference) } == .missingEntitlement)
    #expect(Self.code { try stranger.update(reference) { $0.label = "mine" } } == .missingEntitlement)
    #expect(Self.code { try stranger.update(reference, secret: Secret(testing: "x")) } == .missingEntitlement)
    #expect(Self.code { try stranger.remove(reference) } == .missingEntitlement)
    #expect(
      Self.code { try stranger.move(reference, to: AccessGroup(stranger.entitlements.groups[0].group.name)) }
        == .missingEntitlement)
    #expect(Self.code { try stranger.add(item, secret: Secret(testing: "x"), group: group) } == .missingEntitlement)
    #expect(try Self.text(editor.secret(of: reference)) == "two")
  }

  @Test(arguments: Transport.allCases) func aGroupOfItsOwnIsSeenByOneApp(_ transport: Transport) throws {
    let teams = try Teams(transport)
    let (editor, viewer) = (try teams.keychain(teams.editor), try teams.keychain(teams.viewer))
    let own = try AccessGroup(teams.editor.manifest.applicationIdentifier)
    let reference = try editor.add(item, secret: Secret(testing: "own"), group: own)
    #expect(Self.code { try viewer.secret(of: reference) } == .missingEntitlement)
    #expect(try viewer.items().isEmpty)
    // If the app asks for it, its item moves to a group that others see. It cannot move the items of others there.
    let moved = try editor.move(reference, to: AccessGroup("\(teams.team).shared"))
    #expect(try Self.text(viewer.secret(of: moved)) == "own")
    #expect(Self.code { try viewer.move(moved, to: own) } == .missingEntitlement)
    #expect(Self.code { try editor.secret(of: reference) } == .notFound)
  }

  @Test("items outlive the app, and are there again when it is installed again", arguments: Transport.allCases) func removal(
    _ transport: Transport
  ) throws {
    let teams = try Teams(transport)
    let editor = try teams.keychain(teams.editor)
    let reference = try editor.add(item, secret: Secret(testing: "kept"))
    try teams.remove(teams.editor)
    // Also one that was open when the app was removed.
    let nobody = transport.codeOfRemovedApp
    #expect(Self.code { try editor.secret(of: reference) } == nobody)
    #expect(Self.code { try editor.items() } == nobody)
    #expect(Self.code { try editor.add(item, secret: Secret(testing: "x")) } == nobody)
    #expect(Self.code { try teams.keychain(teams.editor).entitlements } == nobody)
    try teams.install(teams.editor)
    #expect(try Self.text(teams.keychain(teams.editor).secret(of: reference)) == "kept")
  }

  @Test("it is no place for large data: a secret has at most 1 MiB", arguments: Transport.allCases)
  func size(_ transport: Transport) throws {
    let teams = try Teams(transport)
    let editor = try teams.keychain(teams.editor)
    let reference = try editor.add(item, secret: Secret(count: 1 << 20))
    #expect(try editor.secret(of: reference).count == 1 << 20)
    #expect(Self.code { try editor.update(reference, secret: Secret(count: (1 << 20) + 1)) } == .notAllowed)
    #expect(
      Self.code { try editor.add(Item(service: "other", account: "ada"), secret: Secret(count: (1 << 20) + 1)) } == .notAllowed)
    #expect(try editor.items().map(\.reference) == [reference])
  }

  @Test(arguments: Transport.allCases) func aGrantGivesWhatItSaysAndCanBeTakenBack(_ transport: Transport) throws {
    let teams = try Teams(transport)
    let (editor, stranger) = (try teams.keychain(teams.editor), try teams.keychain(teams.stranger))
    let reference = try editor.add(item, secret: Secret(testing: "one"))
    try teams.grant([.list], in: reference.group, to: teams.stranger)
    #expect(try stranger.items().map(\.reference) == [reference])
    #expect(Self.code { try stranger.secret(of: reference) } == .missingEntitlement)
    #expect(Self.code { try stranger.remove(reference) } == .missingEntitlement)
    try teams.grant([.list, .read], in: reference.group, to: teams.stranger)
    #expect(try Self.text(stranger.secret(of: reference)) == "one")
    #expect(Self.code { try stranger.update(reference) { $0.label = "x" } } == .missingEntitlement)
    try teams.revoke(reference.group, of: teams.stranger)
    #expect(Self.code { try stranger.secret(of: reference) } == .missingEntitlement)
  }

  @Test(arguments: Transport.allCases) func aGrantThatAsksIsRefusedWhereNobodyCanBeAsked(_ transport: Transport) throws {
    let teams = try Teams(transport)
    let (editor, stranger) = (try teams.keychain(teams.editor), try teams.keychain(teams.stranger))
    let reference = try editor.add(item, secret: Secret(testing: "one"))
    try teams.grant(.all, in: reference.group, to: teams.stranger, asksForConfirmation: true)
    #expect(try stranger.items().map(\.reference) == [reference])
    #expect(Self.code { try stranger.secret(of: reference) } == .confirmationNeeded)
    #expect(Self.code { try stranger.update(reference) { $0.label = "x" } } == .confirmationNeeded)
    #expect(Self.code { try stranger.update(reference, secret: Secret(testing: "x")) } == .confirmationNeeded)
    #expect(Self.code { try stranger.remove(reference) } == .confirmationNeeded)
    #expect(
      Self.code { try stranger.add(Item(service: "x", account: ""), secret: Secret(testing: "x"), group: reference.group) }
        == .confirmationNeeded)
    #expect(try Self.text(editor.secret(of: reference)) == "one")
  }

  /// Another process commits between the read and the write of a change: its commit is not lost.
  @Test(arguments: Transport.allCases) func aChangeThatMeetsAnotherIsRepeated(_ transport: Transport) throws {
    let teams = try Teams(transport)
    let (editor, viewer) = (try teams.keychain(teams.editor), try teams.keychain(teams.viewer))
    let reference = try editor.add(item, secret: Secret(testing: "one"))
    var rounds = 0
    try editor.update(reference) { item in
      rounds += 1
      if rounds == 1 { try viewer.update(reference, secret: Secret(testing: "two")) { $0.label = "theirs" } }
      item.comment = "ours after \(item.label ?? "nothing")"
    }
    #expect(rounds == 2)
    let entry = try viewer.entry(reference)
    #expect(entry.item.label == "theirs" && entry.item.comment == "ours after theirs")
    #expect(try Self.text(editor.secret(of: reference)) == "two")
    // If each attempt is overtaken, the call throws.
    #expect(
      Self.code {
        try editor.update(reference) { item in
          try viewer.update(reference) { $0.label = "\(rounds)" }
          rounds += 1
          item.comment = "never"
        }
      } == .conflict)
    #expect(rounds == 102)
    #expect(try viewer.item(KeychainQuery(service: "mail")).item.comment == "ours after theirs")
    // A removal of what was read leaves what was written since.
    #expect(Self.code { try editor.remove(entry) } == .conflict)
    try editor.remove(viewer.entry(reference))
    #expect(Self.code { try viewer.entry(reference) } == .notFound)
  }

  @Test(arguments: Transport.allCases) func anInstallBoundItemNamesItsApp(_ transport: Transport) throws {
    let teams = try Teams(transport)
    let (editor, viewer) = (try teams.keychain(teams.editor), try teams.keychain(teams.viewer))
    let reference = try editor.add(item, secret: Secret(testing: "one"), installBound: true)
    #expect(try editor.entry(reference).item[Item.installBound] == teams.editor.manifest.applicationIdentifier)
    // It stays what it is, whoever changes it, and whatever else changes.
    #expect(Self.code { try viewer.update(reference) { $0[Item.installBound] = nil } } == .notAllowed)
    #expect(
      Self.code { try viewer.update(reference, secret: Secret(testing: "x")) { $0[Item.installBound] = "x" } } == .notAllowed)
    let renamed = try viewer.update(reference, secret: Secret(testing: "two")) { $0["account"] = "bob" }
    #expect(try editor.entry(renamed).item[Item.installBound] == teams.editor.manifest.applicationIdentifier)
    // No other app may set this attribute, and a program cannot choose the app's name in it.
    var bound = Item(service: "x", account: "y")
    #expect(Self.code { try teams.owner.add(bound, secret: Secret(testing: "x"), installBound: true) } == .notAllowed)
    bound[Item.installBound] = teams.editor.manifest.applicationIdentifier
    #expect(Self.code { try viewer.add(bound, secret: Secret(testing: "x")) } == .notAllowed)
    #expect(Self.code { try teams.owner.add(bound, secret: Secret(testing: "x")) } == .notAllowed)
  }

  @Test func searchesFindWhatTheySay() throws {
    let teams = try Teams()
    let owner = try teams.owner
    let other = try AccessGroup("other")
    let one = try owner.add(Item(service: "mail", account: "ada"), secret: Secret(testing: "1"))
    let two = try owner.add(Item(service: "mail", account: "bob"), secret: Secret(testing: "2"))
    let three = try owner.add(Item(service: "mail", account: "ada"), secret: Secret(testing: "3"), group: other)
    let nameless = try owner.add(Item(service: "mail", account: ""), secret: Secret(testing: "4"))
    var note = Item(.note)
    note["title"] = "mail"
    note.label = "L"
    let four = try owner.add(note, secret: Secret(testing: "5"))
    func found(_ query: KeychainQuery) throws -> Set<Reference> { Set(try owner.items(query).map(\.reference)) }
    #expect(try found(KeychainQuery()) == [one, two, three, nameless, four])
    #expect(try found(KeychainQuery(service: "mail", account: "ada")) == [one, three])
    #expect(try found(KeychainQuery(service: "mail", account: "ada", group: other)) == [three])
    #expect(try found(KeychainQuery(service: "mail")) == [one, two, three, nameless])
    #expect(try found(KeychainQuery(service: "mail", account: "")) == [nameless])
    #expect(try found(KeychainQuery(service: nil, account: "ada")) == [one, three])
    #expect(try found(KeychainQuery(.note)) == [four])
    var labelled = KeychainQuery()
    labelled["label"] = "L"
    #expect(try found(labelled) == [four])
    #expect(try found(KeychainQuery(service: "none")).isEmpty)
    #expect(Self.code { try owner.item(KeychainQuery(service: "mail")) } == .duplicate)
    #expect(Self.code { try owner.item(KeychainQuery(service: "none")) } == .notFound)
    #expect(Self.code { try owner.add(Item(service: "mail", account: "ada"), secret: Secret(testing: "1")) } == .duplicate)
  }

  @Test func groupsThatATestNames() throws {
    let (a, b) = (try AccessGroup("a"), try AccessGroup("b"))
    let keychain = try Keychain(Vault.throwAway(), as: .groups([a, b]))
    #expect(try keychain.add(item, secret: Secret(testing: "1")).group == a)
    #expect(try keychain.add(item, secret: Secret(testing: "2"), group: b).group == b)
    #expect(try keychain.items(KeychainQuery(service: "mail", account: "ada")).map(\.reference.group) == [a, b])
    #expect(Self.code { try keychain.add(item, secret: Secret(testing: "3"), group: .standard) } == .missingEntitlement)
  }

  @Test(.timeLimit(.minutes(60)), arguments: Transport.allCases) func threadsTakeTurns(_ transport: Transport) async throws {
    let teams = try Teams(transport)
    let keychain = try teams.keychain(teams.editor)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<8 {
        group.addTask {
          for number in 0..<25 {
            let item = Item(service: "\(thread)", account: "\(number)")
            let reference = try keychain.add(item, secret: Secret(testing: "\(thread).\(number)"))
            #expect(try Self.text(keychain.secret(of: reference)) == "\(thread).\(number)")
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try keychain.items().count == 200)
    withExtendedLifetime(teams) {}
  }
}

@Suite struct KeychainFileTests {
  let directory = FileManager.default.temporaryDirectory.appending(path: "coffer-keychain-\(UUID())")
  var path: String { directory.appending(path: "vault.coffer").path }

  func make() throws {
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    _ = try Vault.create(in: FileStore.create(at: path), with: .throwAway(), at: .test)
  }

  @Test func aFileIsOpenedLockedAndOpenedAgain() throws {
    try make()
    defer { try? FileManager.default.removeItem(at: directory) }
    let keychain = try Keychain.open(at: path, with: .throwAway(), as: .owner)
    let reference = try keychain.add(Item(service: "s", account: "a"), secret: Secret(testing: "kept"))
    try keychain.lock()
    #expect(KeychainTests.code { try keychain.secret(of: reference) } == .locked)
    let wrong = try Secret(testing: [UInt8](repeating: 9, count: 64))
    let other = try Credential.keyFile(wrong)
    #expect(KeychainTests.code { try keychain.unlock(at: path, with: other) } == .wrongCredential)
    #expect(try keychain.isLocked)
    try keychain.unlock(at: path, with: .throwAway())
    #expect(try KeychainTests.text(keychain.secret(of: reference)) == "kept")
    #expect(KeychainTests.code { try Keychain.open(at: path, with: other, as: .owner) } == .wrongCredential)
  }

  @Test func aFileThatIsNoVaultIsReported() throws {
    try make()
    defer { try? FileManager.default.removeItem(at: directory) }
    let credential = try Credential.throwAway()
    #expect(KeychainTests.code { try Keychain.open(at: directory.path + "/none", with: credential, as: .owner) } == .noVault)
    try Data(repeating: 0x41, count: 8192).write(to: URL(filePath: path))
    unsafe chmod(path, 0o600)
    #expect(KeychainTests.code { try Keychain.open(at: path, with: credential, as: .owner) } == .integrity)
    let app = try Teams.signed(1, "com.example.none")
    try? FileManager.default.removeItem(at: directory)
    try make()
    #expect(KeychainTests.code { try Keychain.open(at: path, with: credential, as: .app(app)) } == .appNotInstalled)
  }

  /// Two keychains over one file, as in two processes.
  @Test func othersSeeTheChangeAtOnce() throws {
    try make()
    defer { try? FileManager.default.removeItem(at: directory) }
    let (one, two) = (
      try Keychain.open(at: path, with: .throwAway(), as: .owner), try Keychain.open(at: path, with: .throwAway(), as: .owner)
    )
    let reference = try one.add(Item(service: "s", account: "a"), secret: Secret(testing: "1"))
    #expect(try KeychainTests.text(two.secret(of: reference)) == "1")
    try two.remove(reference)
    #expect(KeychainTests.code { try one.secret(of: reference) } == .notFound)
  }
}
