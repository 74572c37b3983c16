import AccessRights
import CofferAgent
import CofferTesting
import CofferWire
import SecretMemory
import Testing
import VaultCore

@testable import Coffer

/// A keychain while it is locked.
@Suite struct LockedTests {
  private static func code<Result: ~Copyable>(_ body: () throws -> Result) -> KeychainError.Code? { KeychainTests.code(body) }

  /// A service that runs in the background, and items that are for when somebody is there.
  private struct Scene {
    let teams: Teams
    let editor: Keychain
    let background: Reference
    let ordinary: Reference

    init(_ transport: Transport) throws {
      teams = try Teams(transport)
      editor = try teams.keychain(teams.editor)
      background = try editor.add(
        Item(service: "sync", account: "ada"), secret: Secret(testing: "token"), accessible: .afterFirstUnlock)
      ordinary = try editor.add(Item(service: "mail", account: "ada"), secret: Secret(testing: "hidden"))
    }
  }

  @Test(arguments: Transport.allCases) func itemsAfterFirstUnlockStayUsable(_ transport: Transport) throws {
    let scene = try Scene(transport)
    let editor = scene.editor
    try editor.lock()
    #expect(try editor.isLocked)
    #expect(try KeychainTests.text(editor.secret(of: scene.background)) == "token")
    #expect(try editor.entry(scene.background).item["account"] == "ada")
    #expect(try editor.item(KeychainQuery(service: "sync", account: "ada")).reference == scene.background)
    #expect(try editor.item(KeychainQuery(service: "sync")).reference == scene.background)
    let new = try editor.add(Item(service: "new", account: ""), secret: Secret(testing: "1"), accessible: .afterFirstUnlock)
    try editor.update(new, secret: Secret(testing: "2")) { $0.label = "L" }
    #expect(try Set(editor.items().map(\.reference)) == [scene.background, new])
    let own = try #require(try editor.ownGroup)
    let moved = try editor.move(new, to: own)
    try editor.remove(scene.background)
    #expect(Self.code { try editor.entry(scene.background) } == .notFound)
    #expect(try editor.entitlements.groups.count == 2)
    try editor.lock()
    // A keychain with the keys reads the same.
    let open = try scene.teams.keychain(scene.teams.editor)
    #expect(try KeychainTests.text(open.secret(of: moved)) == "2")
    #expect(try KeychainTests.text(open.secret(of: scene.ordinary)) == "hidden")
    #expect(try open.items().count == 2)
  }

  @Test(arguments: Transport.allCases) func everythingElseIsLockedAndNeverNotFound(_ transport: Transport) throws {
    let scene = try Scene(transport)
    let editor = scene.editor
    try editor.lock()
    let ordinary = scene.ordinary
    #expect(Self.code { try editor.entry(ordinary) } == .locked)
    #expect(Self.code { try editor.secret(of: ordinary) } == .locked)
    #expect(Self.code { try editor.update(ordinary) { $0.label = "L" } } == .locked)
    #expect(Self.code { try editor.update(ordinary, secret: Secret(testing: "x")) } == .locked)
    #expect(
      Self.code { try editor.move(ordinary, to: AccessGroup(scene.teams.editor.manifest.applicationIdentifier)) } == .locked)
    #expect(Self.code { try editor.remove(ordinary) } == .locked)
    #expect(Self.code { try editor.add(Item(service: "x", account: ""), secret: Secret(testing: "x")) } == .locked)
    // A search that has nothing left says why, whether it is a look-up or a walk; one that has something leaves it out.
    for query in [KeychainQuery(service: "mail", account: "ada"), KeychainQuery(service: "mail"), KeychainQuery(.note)] {
      #expect(Self.code { try editor.item(query) } == .locked, "\(query)")
      #expect(Self.code { try editor.items(query) } == .locked, "\(query)")
    }
    #expect(try editor.items().map(\.reference) == [scene.background])
    // An item that is proven absent is not found, rather than locked.
    #expect(Self.code { try editor.item(KeychainQuery(service: "none", account: "")) } == .notFound)
    // An app that has nothing is not kept waiting for what is another's.
    let stranger = try scene.teams.keychain(scene.teams.stranger)
    try stranger.lock()
    #expect(try stranger.items().isEmpty)
    #expect(Self.code { try stranger.secret(of: ordinary) } == .missingEntitlement)
    #expect(Self.code { try stranger.secret(of: scene.background) } == .missingEntitlement)
  }

  /// Rights are looked up as they are now.
  @Test(arguments: Transport.inThisProcess) func revocationTakesEffectAtOnce(_ transport: Transport) throws {
    let scene = try Scene(transport)
    let (teams, background) = (scene.teams, scene.background)
    let application = teams.stranger.manifest.applicationIdentifier
    var vault = try Vault.openThrowAway(teams.store)
    try vault.transaction { try $0.put(Grant(to: application, background.group, .read, at: .test)) }
    let stranger = try teams.keychain(teams.stranger)
    try stranger.lock()
    #expect(try KeychainTests.text(stranger.secret(of: background)) == "token")
    try vault.transaction { try $0.removeGrant(to: application, background.group) }
    #expect(Self.code { try stranger.secret(of: background) } == .missingEntitlement)
    try scene.editor.lock()
    try vault.transaction { try $0.markRemoved(teams.editor.manifest.applicationIdentifier, at: .test) }
    #expect(Self.code { try scene.editor.secret(of: background) } == .locked)
  }

  @Test(arguments: [true, false]) func aGroupThatOthersMakeIsLocked(isOwner: Bool) throws {
    let store = MemoryStore()
    let new = try AccessGroup("new")
    let keychain = try Keychain(Vault.throwAway(in: store), as: isOwner ? .owner : .groups([.standard, new]))
    try keychain.lock()
    let item = Item(service: "s", account: "a")
    #expect(try keychain.items().isEmpty)
    #expect(try keychain.items(KeychainQuery(group: new)).isEmpty)
    // By name it cannot be told from one that is there now.
    #expect(Self.code { try keychain.items(KeychainQuery(service: "s", account: "a", group: new)) } == .locked)
    #expect(
      Self.code { try keychain.add(item, secret: Secret(testing: "x"), group: new, accessible: .afterFirstUnlock) } == .locked)
    var other = try Vault.openThrowAway(store)
    try other.createGroup(new, at: .test)
    try other.add(item, secret: Secret(testing: "x"), to: new, accessible: .afterFirstUnlock, at: .test)
    #expect(Self.code { try keychain.items() } == .locked)
    #expect(Self.code { try keychain.items(KeychainQuery(group: new)) } == .locked)
    #expect(Self.code { try keychain.item(KeychainQuery(service: "s")) } == .locked)
  }
}

@Suite struct LockedAgentTests {
  /// A connection that unlocked it with a passphrase is the owner until any program locks it.
  @Test func theOwnerIsOneUntilTheLock() throws {
    let teams = try Teams()
    let reference = try teams.keychain(teams.editor).add(
      Item(service: "s", account: ""), secret: Secret(testing: "1"), accessible: .afterFirstUnlock)
    let bench = try AgentBench(teams.store, teams.stranger)
    let (keychain, other) = (bench.keychain, bench.keychain)
    #expect(KeychainTests.code { try keychain.secret(of: reference) } == .missingEntitlement)
    // The bench takes any credential for right.
    func unlockAsOwner() throws {
      let credential = try Credential.derived(Secret(count: 32), .passphrase, salt: [UInt8](repeating: 7, count: 16))
      _ = try keychain.agent.answer(.session(.unlock(credential)))
    }
    try unlockAsOwner()
    #expect(try KeychainTests.text(keychain.secret(of: reference)) == "1")
    #expect(KeychainTests.code { try other.secret(of: reference) } == .missingEntitlement)
    try other.lock()
    #expect(KeychainTests.code { try keychain.secret(of: reference) } == .missingEntitlement)
    try bench.vault.unlock(.throwAway())
    #expect(KeychainTests.code { try keychain.secret(of: reference) } == .missingEntitlement)
    try unlockAsOwner()
    try keychain.unlock(with: .throwAway())
    #expect(KeychainTests.code { try keychain.secret(of: reference) } == .missingEntitlement, "a key file is no owner")
  }

  @Test func theLockOfAnUnusedVaultIsTheSame() throws {
    let teams = try Teams()
    let editor = try teams.keychain(teams.editor)
    let kept = try editor.add(Item(service: "s", account: ""), secret: Secret(testing: "1"), accessible: .afterFirstUnlock)
    let gone = try editor.add(Item(service: "t", account: ""), secret: Secret(testing: "2"))
    let bench = try AgentBench(teams.store, teams.editor)
    let keychain = bench.keychain
    #expect(bench.vault.lock(unusedFor: nil) == .max)
    #expect(try !keychain.isLocked)
    #expect(bench.vault.lock(unusedFor: 0) == nil)
    #expect(try keychain.isLocked)
    #expect(try KeychainTests.text(keychain.secret(of: kept)) == "1")
    #expect(KeychainTests.code { try keychain.secret(of: gone) } == .locked)
    // There is nothing left to lock.
    #expect(bench.vault.lock(unusedFor: 0) == nil)
    try bench.vault.unlock(.throwAway())
    #expect(try KeychainTests.text(keychain.secret(of: gone)) == "2")
    #expect(try #require(bench.vault.lock(unusedFor: 60_000)) > 0)
  }
}
