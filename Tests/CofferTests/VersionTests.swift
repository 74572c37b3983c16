import AccessRights
import CofferAgent
import CofferRequests
import CofferTesting
import SecretMemory
import Testing
import VaultCore
import VaultUpkeep

@testable import Coffer

/// Versions of items, in the process and through agents.
@Suite(.timeLimit(.minutes(60))) struct VersionTests {
  private func text(_ secret: borrowing Secret) -> String { KeychainTests.text(secret) }

  private func secret(_ text: String) throws -> Secret { try Secret(testing: text) }

  private func add(
    _ account: String, _ values: [String], to keychain: Keychain, _ group: AccessGroup? = nil
  ) throws -> Reference {
    let reference = try keychain.add(Item(service: "mail", account: account), secret: secret(values[0]), group: group)
    for value in values.dropFirst() { try keychain.update(reference, secret: secret(value)) }
    return reference
  }

  /// A program is asked about each time, so the owner reads and restores here.
  @Test(arguments: Transport.allCases) func versionsAreListedReadAndRestored(_ transport: Transport) throws {
    let teams = try Teams(transport)
    let (keychain, owner) = (try teams.keychain(teams.editor), try teams.owner)
    let ada = try add("ada", ["one", "two"], to: keychain)
    let versions = try keychain.history(of: ada)
    #expect(versions.map(\.state) == [.present, .changed] && versions.allSatisfy { $0.time != nil })
    #expect(KeychainTests.code { _ = try keychain.secret(of: ada, version: versions[1].number) } == .confirmationNeeded)
    #expect(KeychainTests.code { try keychain.restore(ada) } == .confirmationNeeded)
    #expect(try text(owner.secret(of: ada, version: versions[0].number)) == "two")
    #expect(try text(owner.secret(of: ada, version: versions[1].number)) == "one")
    #expect(KeychainTests.code { _ = try owner.secret(of: ada, version: 1 << 40) } == .notFound)
    #expect(try owner.restore(ada) == ada && text(keychain.secret(of: ada)) == "one")
    #expect(try owner.restore(ada, version: versions[0].number) == ada && text(keychain.secret(of: ada)) == "two")
    #expect(KeychainTests.code { try owner.restore(ada, version: 1 << 40) } == .notFound)
    #expect(try keychain.history(of: ada).map(\.state) == [.present, .changed, .changed, .changed])
    #expect(try keychain.remove(ada))
    #expect(try keychain.history(of: ada).map(\.state) == [.removed, .changed, .changed, .changed])
    let last = try #require(try keychain.history(of: ada).first).number
    #expect(try text(owner.secret(of: ada, version: last)) == "two")
    #expect(try owner.restore(ada) == ada && text(keychain.secret(of: ada)) == "two")
  }

  @Test(arguments: Transport.allCases) func removedItemsAreFoundByNameAndGroup(_ transport: Transport) throws {
    let teams = try Teams(transport)
    let keychain = try teams.keychain(teams.editor)
    let own = try AccessGroup(teams.editor.manifest.applicationIdentifier)
    let (ada, bob) = (try add("ada", ["one", "two"], to: keychain), try add("bob", ["three"], to: keychain, own))
    #expect(try keychain.removedItems().isEmpty)
    for reference in [ada, bob] { #expect(try keychain.remove(reference)) }
    let removed = try keychain.removedItems().sorted { ($0.item["account"] ?? "") < ($1.item["account"] ?? "") }
    #expect(removed.map(\.reference) == [ada, bob] && removed.map { $0.item["service"] } == ["mail", "mail"])
    #expect(try removed[0].version == keychain.history(of: ada).first?.number)
    #expect(try keychain.removedItems(in: own).map(\.reference) == [bob])
    for (query, found) in [
      (KeychainQuery(service: "mail", account: "ada"), [ada]), (KeychainQuery(service: "mail", account: "eve"), []),
      (KeychainQuery(service: "mail", account: "bob", group: own), [bob]), (KeychainQuery(service: "other"), []),
      (KeychainQuery(service: nil, account: "bob"), [bob]), (KeychainQuery(.note), []),
    ] {
      let listing = try keychain.removedListing(query)
      #expect(listing.items.map(\.reference) == found && listing.damagedCount == 0 && listing.damage == nil)
    }
  }

  @Test(arguments: Transport.allCases) func purgedVersionsAreGone(_ transport: Transport) throws {
    let teams = try Teams(transport)
    let program = try teams.keychain(teams.editor)
    let ada = try add("ada", ["one", "two", "three", "four"], to: program)
    let versions = try program.history(of: ada).map(\.number)
    if transport == .system {
      // In a vault of the system's only the owner ends a value.
      for body in [
        { try program.purge(ada, version: versions[2]) }, { try program.purge(ada) }, { try program.removeForGood(ada) },
      ] {
        #expect(KeychainTests.code { _ = try body() } == .missingEntitlement)
      }
      #expect(KeychainTests.code { _ = try program.purgeExpired(removedItems: true) } == .missingEntitlement)
      #expect(try program.purgeExpired(removedItems: false) == (0, 0))
      #expect(try program.history(of: ada).map(\.number) == versions)
    }
    let keychain = transport == .system ? try teams.owner : program
    #expect(try keychain.purge(ada, version: versions[2]) == 1)
    #expect(KeychainTests.code { try keychain.purge(ada, version: versions[2]) } == .notFound)
    #expect(try keychain.history(of: ada).map(\.number) == [versions[0], versions[1], versions[3]])
    #expect(try keychain.purge(ada) == 2 && keychain.history(of: ada).count == 1)
    #expect(try keychain.removeForGood(ada) == 1 && keychain.removedItems().isEmpty)
    #expect(KeychainTests.code { _ = try keychain.history(of: ada) } == .notFound)
    #expect(KeychainTests.code { try keychain.restore(ada) } == .notFound)
    let bob = try add("bob", ["one", "two"], to: keychain)
    try keychain.remove(bob)
    #expect(try keychain.purgeExpired(removedItems: false) == (0, 0))
    #expect(try keychain.purgeExpired(removedItems: true) == (2, 0) && keychain.removedItems().isEmpty)
  }

  /// A list takes the right to list and to read, a restored or purged version the right to write.
  @Test(arguments: Transport.inThisProcess) func eachRequestTakesItsRight(_ transport: Transport) throws {
    let teams = try Teams(transport)
    let editor = try teams.keychain(teams.editor)
    let shared = try AccessGroup("\(teams.team).shared")
    let (ada, bob) = (try add("ada", ["one", "two"], to: editor, shared), try add("bob", ["one"], to: editor, shared))
    try editor.remove(bob)
    let former = try #require(try editor.history(of: ada).last).number
    for rights in [[], .list, .read, .write] as [Entitlements.Rights] {
      let teams = teams
      if !rights.isEmpty { try teams.grant(rights, in: shared, to: teams.stranger) }
      let stranger = try teams.keychain(teams.stranger)
      func expect(_ right: Entitlements.Rights, _ allowed: KeychainError.Code? = nil, _ body: () throws -> Void) {
        #expect(KeychainTests.code(body) == (rights.contains(right) ? allowed : .missingEntitlement), "\(rights) \(right)")
      }
      expect(.read) { _ = try stranger.history(of: ada) }
      expect(.read, .confirmationNeeded) { _ = try stranger.secret(of: ada, version: former) }
      expect([.list, .read]) { _ = try stranger.removedItems(in: shared) }
      #expect(try stranger.removedItems().isEmpty)
      expect(.write) { _ = try stranger.purgeExpired(in: shared, removedItems: false) }
      expect(.write, .confirmationNeeded) { try stranger.restore(ada, version: former) }
      expect(.write) { _ = try stranger.purge(ada) }
      expect(.write) { _ = try stranger.removeForGood(ada) }
    }
  }

  // MARK: Damage

  private static let formerKind: UInt8 = 6

  @Test(arguments: Transport.inThisProcess) func damageIsReportedAndStopsNoWrite(_ transport: Transport) throws {
    let teams = try Teams(transport)
    let (keychain, owner) = (try teams.keychain(teams.editor), try teams.owner)
    let ada = try add("ada", ["one"], to: keychain)
    try keychain.remove(ada)
    teams.store.spoil { $0.head.meta.first == Self.formerKind }
    let bob = try add("bob", ["one"], to: keychain)
    try keychain.remove(bob)
    #expect(KeychainTests.code { _ = try keychain.removedItems() } == .integrity)
    let listing = try keychain.removedListing(KeychainQuery())
    #expect(listing.items.map(\.reference) == [bob] && listing.damagedCount == 1)
    #expect(listing.damage?.cause == .vault(.recordForged))
    #expect(try keychain.removedListing(KeychainQuery(service: "mail", account: "bob")).items.map(\.reference) == [bob])
    #expect(KeychainTests.code { _ = try keychain.removedListing(KeychainQuery(service: "mail", account: "ada")) } == .integrity)
    #expect(KeychainTests.code { try owner.restore(ada) } == .integrity)
    #expect(keychain.damagedHead == nil)
    #expect(try add("ada", ["new"], to: keychain) == ada)
    #expect(keychain.damagedHead?.cause == .vault(.recordForged))
    #expect(try keychain.purgeExpired(removedItems: true) == (1, 1))
    #expect(try text(keychain.secret(of: ada)) == "new")
  }

  @Test(arguments: Transport.inThisProcess) func aNewNameReportsADamagedItemToo(_ transport: Transport) throws {
    let teams = try Teams(transport)
    let keychain = try teams.keychain(teams.editor)
    try keychain.remove(add("ada", ["one"], to: keychain))
    teams.store.spoil { $0.head.meta.first == Self.formerKind }
    let bob = try add("bob", ["one"], to: keychain)
    try keychain.update(bob) { $0.label = "new" }
    #expect(keychain.damagedHead == nil)
    try keychain.update(bob) { $0["account"] = "ada" }
    #expect(keychain.damagedHead?.cause == .vault(.recordForged))
  }

  /// Damage does not go away within a minute: the agent looks again after a day, and reports once for each time.
  @Test func theAgentPurgesOnceADay() throws {
    let store = TurnStore()
    var vault = try Vault.throwAway(in: store)
    let day: Int64 = 86_400
    let start = Timestamp.test.secondsSince1970
    var references: [Reference] = []
    for account in ["ada", "bob"] {
      references.append(try vault.add(Item(service: "mail", account: account), secret: secret("one"), at: .test))
      try vault.update(references.last!, secret: secret("two"), at: .test)
    }
    let ada = references[0].id
    store.spoil(secret: true) { $0.id == ada }
    let agent = AgentVault(at: "memory", inspect: { try Vault.inspect(store) }, open: { _ in try Vault.openThrowAway(store) })
    var purge = DailyPurge()
    var faults: [KeychainError] = []
    func generation() throws -> UInt64 { try Vault.openThrowAway(store).lastGeneration }
    let before = try generation()
    // While it is locked, nothing is due.
    purge.run(in: agent, atSecond: start + 1000 * day) { faults.append($0) }
    try agent.unlock(.throwAway())
    #expect(try faults.isEmpty && generation() == before)
    for second in [0, 60, 120, day - 1] { purge.run(in: agent, atSecond: start + 1000 * day + second) { faults.append($0) } }
    #expect(faults.map(\.cause) == [.vault(.recordForged)] && faults[0].detail.contains("\(ada)"))
    #expect(try generation() == before + 1)
    for second in [day, day + 60] { purge.run(in: agent, atSecond: start + 1000 * day + second) { faults.append($0) } }
    #expect(try faults.count == 2 && generation() == before + 1)
    let open = try Vault.openThrowAway(store)
    #expect(try references.map { try open.history(of: $0).former.count } == [1, 0])
  }
}
