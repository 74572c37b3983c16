import CofferTesting
import Testing

@testable import SecretMemory
@testable import VaultCore
@testable import VaultUpkeep

/// A repair from a backup: rows of groups that do not stay, of other devices, and of kinds that this version does not open.
@Suite struct RepairSourceTests {
  private let store = MemoryStore()
  private let team = AccessGroup(unchecked: "team")
  private static let bob = Item(service: "github", account: "bob")
  private static let eve = Item(service: "github", account: "eve")

  private func damageTheIndex() { store.nodes[[]] = [UInt8](repeating: 1, count: 48) }

  private func deviceKey() throws -> Secret { try Secret(testing: [UInt8](repeating: 7, count: 32)) }

  private func groupRecord(_ group: AccessGroup, _ vault: borrowing Vault) throws -> Identifier {
    try vault.reading { state, _ in try state.keys.groupRecordID(group) }
  }

  /// By group and account.
  private func values() throws -> [String: String] {
    let vault = try Vault.openThrowAway(store, deviceKey: deviceKey())
    var values: [String: String] = [:]
    for entry in try vault.entries().entries {
      values["\(entry.reference.group)/\(entry.item["account"] ?? "")"] = String(
        decoding: try vault.secret(of: entry.reference).copyIntoUnprotectedBytes(), as: UTF8.self)
    }
    return values
  }

  /// The vault is sound afterwards, and has as many records as the plan says.
  @discardableResult private func repair(from backup: MemoryStore? = nil, accepts: Bool = false) throws -> RepairPlan {
    var vault = try Vault.openThrowAway(store)
    let plan = try vault.repairPlan(from: backup, acceptsUnproven: accepts)
    try vault.repair(plan, from: backup, acceptsUnproven: accepts, at: .test)
    let found = try Vault.openThrowAway(store, deviceKey: deviceKey()).verify()
    #expect(found.isSound && found.recordCount == plan.recordCount, "\(found.problems), \(plan)")
    return plan
  }

  /// The record of its group is in neither of the two: the item of the backup opens, and would be one without a group.
  @Test func aGroupThatDoesNotStayGetsNoItemFromTheBackup() throws {
    var vault = try Vault.throwAway(in: store)
    try vault.createGroup(team, at: .test)
    try vault.add(Self.bob, secret: Secret(testing: "1"), to: team, at: .test)
    try vault.add(Self.eve, secret: Secret(testing: "2"), at: .test)
    let backup = store.copy()
    let record = try groupRecord(team, vault)
    var parts = TamperTests.SealedRecordParts(try #require(backup.records[record]))
    parts.attributes[30] ^= 1
    backup.records[record] = parts.record(record)
    damageTheIndex()
    let plan = try repair(from: backup)
    #expect(plan.records.filter { $0.group == team }.map(\.outcome) == [.unproven, .unproven])
    #expect(try values() == ["default/eve": "2"])
  }

  /// The backup has the group under the name of before, and its items with it.
  @Test(arguments: [false, true]) func aGroupThatWasRenamedComesBackWithItsItems(accepts: Bool) throws {
    let crew = AccessGroup(unchecked: "crew")
    var vault = try Vault.throwAway(in: store)
    try vault.createGroup(team, at: .test)
    try vault.add(Self.bob, secret: Secret(testing: "1"), to: team, at: .test)
    let backup = store.copy()
    try vault.renameGroup(team, to: crew)
    damageTheIndex()
    let plan = try repair(from: backup, accepts: accepts)
    #expect(plan.records.first { $0.group == crew && $0.kind == .group }?.outcome == (accepts ? .accepted : .unproven))
    #expect(plan.records.contains { $0.group == team && $0.outcome == .fromBackup } != accepts)
    #expect(try values() == [accepts ? "crew/bob" : "team/bob": "1"])
  }

  /// A row of before, put back: of two records with one identifier of a group one stays, whichever comes first.
  @Test(arguments: [false, true]) func aGroupHasOneName(accepts: Bool) throws {
    let crew = AccessGroup(unchecked: "crew")
    var vault = try Vault.throwAway(in: store)
    try vault.createGroup(team, at: .test)
    try vault.add(Self.bob, secret: Secret(testing: "1"), to: team, at: .test)
    let (record, newRecord) = (try groupRecord(team, vault), try groupRecord(crew, vault))
    let row = try #require(store.records[record])
    try vault.renameGroup(team, to: crew)
    store.records[record] = row
    damageTheIndex()
    let plan = try repair(accepts: accepts)
    let names = plan.records.filter { [record, newRecord].contains($0.id) }
    #expect(names.count == 2 && names.count { $0.outcome == .accepted } == (accepts ? 1 : 0), "\(names)")
    #expect(try values().values.sorted() == (accepts ? ["1"] : []))
  }

  /// It is sealed for this device, whose key is not here, so it does not stay: that of the backup takes its place, and the plan says that a
  /// newer one goes.
  @Test(arguments: [false, true]) func aNewerRowOfThisDeviceIsNotReplacedUnseen(accepts: Bool) throws {
    var vault = try Vault.throwAway(in: store, deviceKey: deviceKey())
    let bob = try vault.add(Self.bob, secret: Secret(testing: "old"), accessible: .whenUnlockedThisDevice, at: .test)
    let backup = store.copy()
    try vault.update(bob, secret: Secret(testing: "new"), at: .test)
    let generation = try vault.generation()
    damageTheIndex()
    let plan = try repair(from: backup, accepts: accepts)
    let row = try #require(plan.records.first { $0.id == bob.id })
    #expect(row.outcome == .fromBackup && row.reason == .deviceKeyMissing && row.replaced == generation)
    #expect(plan.droppedCount > 0)
    #expect(try values()["default/bob"] == "old")
  }

  /// A record of a later version cannot be opened here. The tree proves it, or it may be anything.
  @Test(arguments: [false, true]) func aRecordOfALaterVersionStaysIfItIsProven(isProven: Bool) throws {
    var vault = try Vault.throwAway(in: store)
    let id = try #require(Identifier([0] + [UInt8](repeating: 9, count: 15)))
    try vault.transaction { transaction in
      let meta = RecordMeta(kind: .alias, accessibility: .whenUnlocked, epoch: 1, version: transaction.generation)
      try transaction.edit(
        id, try transaction.keys.sealSystemRecord(id, meta: meta, attributes: [1, 2, 3], secret: Secret(count: 0)))
    }
    let bob = try vault.add(Self.bob, secret: Secret(testing: "1"), at: .test)
    if isProven { store.records[bob.id] = nil } else { damageTheIndex() }
    let plan = try repair(accepts: true)
    let row = plan.records.first { $0.id == id }
    #expect(row?.outcome == (isProven ? nil : .lost) && row?.reason == (isProven ? nil : .recordMalformed))
    #expect((store.records[id] != nil) == isProven)
  }
}
