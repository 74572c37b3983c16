import CofferTesting
import Testing

@testable import SecretMemory
@testable import VaultCore
@testable import VaultUpkeep

/// Damage to policies and former versions: it stops no write, and nothing that is sound is lost by it.
@Suite struct HistoryDamageTests {
  let store = MemoryStore()
  static let bob = Item(service: "github", account: "bob")
  static let eve = Item(service: "github", account: "eve")

  private func time(_ day: Int64) -> Timestamp { Timestamp(secondsSince1970: Timestamp.test.secondsSince1970 + day * 86_400) }

  private func secret(_ text: String) throws -> Secret { try Secret(testing: text) }

  private func text(_ reference: Reference, _ version: UInt64, _ vault: borrowing Vault) throws -> String {
    try String(decoding: vault.secret(of: reference, version: version).copyIntoUnprotectedBytes(), as: UTF8.self)
  }

  /// Changes a byte of the attributes, or of the secret.
  private func spoil(_ id: Identifier, secret: Bool = false, in store: MemoryStore? = nil) throws {
    let store = store ?? self.store
    var parts = TamperTests.SealedRecordParts(try #require(store.records[id]))
    if secret { parts.secret[30] ^= 1 } else { parts.attributes[30] ^= 1 }
    store.records[id] = parts.record(id)
  }

  private func row(_ reference: Reference, _ version: UInt64, _ vault: borrowing Vault) throws -> Identifier {
    try vault.reading { state, keyring in
      try keyring.existing(reference.group, in: state).historyID(reference.id, version)
    }
  }

  /// An item with the values 0 to `last`, made at those days.
  private func add(_ item: Item, last: Int64, to vault: inout Vault) throws -> Reference {
    let reference = try vault.add(item, secret: secret("0"), at: time(0))
    for day in 0..<last { try vault.update(reference, secret: secret("\(day + 1)"), at: time(day + 1)) }
    return reference
  }

  private func repair(from backup: MemoryStore? = nil) throws {
    var vault = try Vault.openThrowAway(store)
    let plan = try vault.repairPlan(from: backup, acceptsUnproven: false)
    try vault.repair(plan, from: backup, acceptsUnproven: false, at: .test)
    #expect(try vault.verify().problems == [])
  }

  private func limits(_ versions: UInt64, _ days: UInt64 = 90) throws -> Limits {
    var limits = Limits()
    try limits.set(.historyVersions, to: versions)
    try limits.set(.historyDays, to: days)
    return limits
  }

  // MARK: Policy

  @Test func aDamagedPolicyStopsNoWriteAndRemovesNoVersion() throws {
    var vault = try Vault.throwAway(in: store)
    let (few, many) = (try limits(2), try limits(5))
    try vault.transaction { try $0.setLimits(few) }
    let bob = try add(Self.bob, last: 2, to: &vault)
    let eve = try add(Self.eve, last: 0, to: &vault)
    try spoil(vault.keys.policyID("limits"))
    vault = try Vault.openThrowAway(store)
    #expect(code { _ = try vault.limits() } == .recordForged)
    for day in 3...4 { try vault.update(bob, secret: secret("\(day)"), at: time(Int64(day))) }
    #expect(try vault.history(of: bob).former.count == 4)
    #expect(try vault.remove(eve, at: time(5)) && vault.removedItem(Self.eve) != nil)
    var damaged: [VaultError.Code] = []
    #expect(try vault.purgeExpired(at: time(1000), damaged: { damaged.append($0.code) }) == 0 && damaged == [.recordForged])
    #expect(try vault.verify().problems.map(\.code) == [.recordForged])
    try vault.transaction { try $0.setLimits(many) }
    #expect(try vault.limits() == many && vault.verify().problems == [])
  }

  @Test func aDamagedPolicyLetsALockedVaultWrite() throws {
    var vault = try Vault.throwAway(in: store)
    let few = try limits(1)
    try vault.transaction { try $0.setLimits(few) }
    let bob = try vault.add(Self.bob, secret: secret("0"), accessible: .afterFirstUnlock, at: time(0))
    try spoil(vault.keys.policyID("limits"))
    vault.lock()
    for day in 1...3 { try vault.update(bob, secret: secret("\(day)"), at: time(Int64(day))) }
    #expect(try vault.history(of: bob).former.count == 3)
  }

  // MARK: Heads

  enum Write: CaseIterable, Sendable { case add, rename, move }

  private func write(_ write: Write, _ vault: inout Vault) throws -> Reference {
    switch write {
    case .add: return try vault.add(Self.bob, secret: secret("new"), at: time(5))
    case .rename:
      let eve = try vault.add(Self.eve, secret: secret("new"), at: time(5))
      return try vault.update(eve, at: time(6)) { $0["account"] = "bob" }
    case .move:
      let team = try AccessGroup("team")
      try vault.createGroup(team, at: time(5))
      let there = try vault.add(Self.bob, secret: secret("new"), to: team, at: time(5))
      return try vault.move(there, to: .standard, at: time(6))
    }
  }

  /// The damaged head stays listed, as verify reports, and a repair gives its former versions to the new item.
  @Test(arguments: Write.allCases, [false, true]) func aDamagedHeadStopsNoWrite(_ way: Write, ofSecret: Bool) throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try add(Self.bob, last: 2, to: &vault)
    let versions = try vault.history(of: bob).former.map(\.number)
    try vault.remove(bob, at: time(3))
    try spoil(row(bob, .max, vault), secret: ofSecret)
    vault = try Vault.openThrowAway(store)
    let new = try write(way, &vault)
    #expect(try new == bob && vault.transaction { try $0.damageOfHead(of: new) }?.code == .recordForged)
    #expect(try vault.verify().problems.map(\.code) == [.recordForged])
    #expect(try vault.purgeExpired(at: time(7)) == 0 && vault.history(of: bob).former.isEmpty)
    try repair()
    vault = try Vault.openThrowAway(store)
    #expect(try vault.history(of: bob).former.map(\.number) == versions)
    #expect(try text(bob, versions[0], vault) == "1" && text(bob, versions[1], vault) == "0")
    #expect(try vault.transaction { try $0.damageOfHead(of: new) } == nil)
  }

  /// The head of the new item takes the place of the damaged one. Its former versions wait for a repair, also through a purge.
  @Test func aRemovalOverADamagedHeadLosesNoFormerVersion() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try add(Self.bob, last: 2, to: &vault)
    let versions = try vault.history(of: bob).former.map(\.number)
    try vault.remove(bob, at: time(3))
    try spoil(row(bob, .max, vault))
    vault = try Vault.openThrowAway(store)
    try vault.add(Self.bob, secret: secret("new"), at: time(4))
    #expect(try vault.remove(bob, at: time(5)))
    #expect(try vault.verify().problems.map(\.code) == [.historyUnlisted, .historyUnlisted])
    #expect(try vault.purgeExpired(at: time(6)) == 0)
    try repair()
    vault = try Vault.openThrowAway(store)
    let history = try vault.history(of: bob)
    #expect(history.removed == time(5) && history.former.map(\.number) == versions)
    #expect(try text(bob, history.entry.version, vault) == "new" && text(bob, versions[0], vault) == "1")
  }

  /// The last value of the removed item comes back, as a former version of the item that was made in its place.
  @Test func aHeadFromABackupBecomesAFormerVersion() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try add(Self.bob, last: 2, to: &vault)
    try vault.remove(bob, at: time(3))
    let history = try vault.history(of: bob)
    let backup = store.copy()
    try spoil(row(bob, .max, vault))
    vault = try Vault.openThrowAway(store)
    try vault.add(Self.bob, secret: secret("new"), at: time(4))
    try repair(from: backup)
    vault = try Vault.openThrowAway(store)
    #expect(try vault.history(of: bob).former.map(\.number) == [history.entry.version] + history.former.map(\.number))
    #expect(try text(bob, history.entry.version, vault) == "2")
  }

  // MARK: Former versions

  @Test func aDamagedVersionHidesNoOtherRemovedItem() throws {
    var vault = try Vault.throwAway(in: store)
    let (bob, eve) = (try add(Self.bob, last: 2, to: &vault), try add(Self.eve, last: 1, to: &vault))
    let version = try #require(try vault.history(of: eve).former.first).number
    for reference in [bob, eve] { try vault.remove(reference, at: time(3)) }
    try spoil(row(eve, version, vault))
    vault = try Vault.openThrowAway(store)
    var damaged: [VaultError.Code] = []
    #expect(try vault.removedItems { damaged.append($0.code) }.count == 2 && damaged == [.recordForged])
    #expect(try vault.removedItem(Self.bob)?.former.count == 2 && vault.removedItem(Self.eve)?.former.count == 1)
    try spoil(row(eve, .max, vault))
    #expect(code { _ = try vault.removedItem(Self.eve) } == .recordForged)
    damaged = []
    #expect(try vault.removedItems { damaged.append($0.code) }.map(\.entry.reference) == [bob])
    #expect(damaged == [.recordForged, .recordForged])
    _ = try vault.transaction { try $0.restore(bob, at: time(4)) }
    #expect(try vault.history(of: bob).former.count == 3 && vault.removedItem(Self.bob) == nil)
    try vault.remove(bob, at: time(5))
    #expect(try vault.purgeExpired(at: time(5), removedItems: true) == 4 && vault.removedItem(Self.bob) == nil)
  }

  /// The next version that opens stands for the removed item, and a damaged one stays in the list.
  @Test(arguments: 0..<3) func purgingTheLastVersionKeepsTheOthers(damaged: Int) throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try add(Self.bob, last: 3, to: &vault)
    let former = try vault.history(of: bob).former.map(\.number)
    try vault.remove(bob, at: time(5))
    let last = try vault.history(of: bob).entry.version
    for number in former.prefix(damaged) { try spoil(row(bob, number, vault), secret: true) }
    vault = try Vault.openThrowAway(store)
    #expect(try vault.transaction { try $0.purge(bob) { $0.number == last } } == 1)
    let history = try vault.history(of: bob)
    #expect(history.entry.version == former[damaged] && history.removed == time(5))
    #expect(history.former.map(\.number) == former.filter { $0 != former[damaged] })
    #expect(try text(bob, former[damaged], vault) == "\(2 - damaged)")
    #expect(try vault.verify().problems.count == damaged)
  }

  @Test func purgingTheLastVersionThatOpensIsRefused() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try add(Self.bob, last: 2, to: &vault)
    try vault.remove(bob, at: time(5))
    let before = try vault.history(of: bob)
    for version in before.former { try spoil(row(bob, version.number, vault)) }
    vault = try Vault.openThrowAway(store)
    let rows = Set(store.records.keys)
    #expect(code { _ = try vault.transaction { try $0.purge(bob) { $0.number == before.entry.version } } } == .historyMissing)
    #expect(try vault.history(of: bob) == before && Set(store.records.keys) == rows)
    #expect(try vault.transaction { try $0.purge(bob) { _ in true } } == 3)
    #expect(try vault.verify().problems == [])
  }

  /// Also below a group that is damaged: its items do not open, the others do.
  @Test(arguments: [false, true]) func damageStopsNoOtherPurge(ofGroup: Bool) throws {
    var vault = try Vault.throwAway(in: store)
    let team = try AccessGroup("team")
    try vault.createGroup(team, at: time(0))
    let eve = try vault.add(Self.eve, secret: secret("0"), to: team, at: time(0))
    try vault.update(eve, secret: secret("1"), at: time(1))
    let bob = try add(Self.bob, last: 1, to: &vault)
    if ofGroup { try spoil(vault.keys.groupRecordID(team)) } else { try spoil(eve.id, secret: true) }
    vault = try Vault.openThrowAway(store)
    var damaged: [VaultError] = []
    #expect(try vault.purgeExpired(at: time(1000), damaged: { damaged.append($0) }) == 1)
    #expect(try vault.history(of: bob).former.isEmpty)
    if ofGroup {
      #expect(damaged.map(\.code) == [.unknownGroup, .unknownGroup])
    } else {
      #expect(damaged.map(\.code) == [.recordForged] && damaged.first?.detail.contains("\(eve.id)") == true)
      #expect(try vault.history(of: eve).former.count == 1)
    }
  }
}
