import CofferTesting
import SecretMemory
import Testing
import VaultUpkeep

@testable import VaultCore

/// Repair of rows that open while nothing proves them: none of them goes unseen, and the newest one stays.
@Suite struct UnprovenRecordTests {
  private let store = MemoryStore()
  private static let bob = Item(service: "github", account: "bob")
  private static let eve = Item(service: "github", account: "eve")

  private func set(_ item: Item, _ value: String, _ vault: inout Vault) throws {
    if let entry = try vault.entry(item) {
      try vault.update(entry.reference, secret: Secret(testing: value), at: .test)
    } else {
      try vault.add(item, secret: Secret(testing: value), at: .test)
    }
  }

  private func values() throws -> [String: String] {
    let vault = try Vault.openThrowAway(store)
    var values: [String: String] = [:]
    for entry in try vault.entries().entries {
      values["\(entry.item["account"] ?? "")"] = String(
        decoding: try vault.secret(of: entry.reference).copyIntoUnprotectedBytes(), as: UTF8.self)
    }
    return values
  }

  private func damageTheIndex() { store.nodes[[]] = [UInt8](repeating: 1, count: 48) }

  /// The vault is sound afterwards, with its group `default`, and has as many records as the plan says.
  @discardableResult private func repair(from backup: MemoryStore? = nil, accepts: Bool = false, isMixed: Bool = false) throws
    -> RepairPlan
  {
    var vault = try Vault.openThrowAway(store)
    let plan = try vault.repairPlan(from: backup, acceptsUnproven: accepts)
    try vault.repair(plan, from: backup, acceptsUnproven: accepts, at: .test)
    let found = try Vault.openThrowAway(store).verify()
    #expect(found.isSound, "\(found.problems)")
    // Two rows of one former version, which only earlier rows bring about, become one.
    #expect(found.recordCount <= plan.recordCount && (isMixed || found.recordCount == plan.recordCount), "\(plan)")
    #expect(try vault.repairPlan(from: nil, acceptsUnproven: false).isSound)
    try set(Item(service: "s", account: "after"), "after", &vault)
    return plan
  }

  @Test func whatOpensIsUnprovenAndNotLost() throws {
    var vault = try Vault.throwAway(in: store)
    try set(Self.bob, "1", &vault)
    try set(Self.bob, "2", &vault)
    damageTheIndex()
    let plan = try vault.repairPlan(from: nil, acceptsUnproven: false)
    #expect(plan.records.count == 3 && plan.droppedCount == 3)
    #expect(plan.records.allSatisfy { $0.outcome == .unproven && $0.reason == nil && $0.group == .standard })
    #expect(plan.records.compactMap { $0.item?["account"] } == ["bob", "bob"])
    try repair(accepts: true)
    #expect(try values() == ["bob": "2", "after": "after"])
  }

  /// Items that the tree proves do not open without their group, which it does not prove.
  @Test func provenItemsOfAnUnprovenGroup() throws {
    var vault = try Vault.throwAway(in: store)
    try vault.transaction { transaction in
      for number in 0..<400 {
        try transaction.add(Item(service: "s", account: "\(number)"), secret: Secret(testing: "\(number)"), at: .test)
      }
    }
    try #require(store.nodes[[0]] != nil)
    store.nodes[[0]] = [1]
    let plan = try vault.repairPlan(from: nil, acceptsUnproven: false)
    #expect(plan.count(.unproven) == 401 && plan.count(.lost) == 0)
    #expect(try repair(accepts: true).keptCount == 400)
    #expect(try values().count == 401)
  }

  /// A vault whose groups are lost can be written again.
  @Test func theGroupDefaultIsMadeAnew() throws {
    var vault = try Vault.throwAway(in: store)
    try set(Self.bob, "1", &vault)
    damageTheIndex()
    let plan = try repair()
    #expect(plan.makesStandardGroup && plan.recordCount == 1 && plan.keptCount == 0)
    #expect(try values() == ["after": "after"])
  }

  @Test(arguments: [false, true]) func aNewerRowIsNotReplacedUnseen(accepts: Bool) throws {
    var vault = try Vault.throwAway(in: store)
    try set(Self.bob, "old", &vault)
    try set(Self.eve, "same", &vault)
    let backup = store.copy()
    try set(Self.bob, "new", &vault)
    damageTheIndex()
    let plan = try repair(from: backup, accepts: accepts)
    let bob = try #require(plan.records.first { $0.kind == .item && $0.item?["account"] == "bob" })
    #expect(bob.outcome == (accepts ? .accepted : .fromBackup) && bob.replaced == (accepts ? nil : 4))
    #expect(plan.records.first { $0.item?["account"] == "eve" }?.outcome == .fromBackup)
    // The former version of bob's is in no backup.
    #expect(plan.droppedCount == (accepts ? 0 : 2))
    #expect(try values()["bob"] == (accepts ? "new" : "old") && values()["eve"] == "same")
  }

  /// Its head says that it was removed, so the backup does not bring it back.
  @Test(arguments: [false, true]) func aRemovedItemStaysRemoved(accepts: Bool) throws {
    var vault = try Vault.throwAway(in: store)
    try set(Self.bob, "1", &vault)
    let backup = store.copy()
    try vault.remove(try #require(try vault.entry(Self.bob)).reference, at: .test)
    damageTheIndex()
    let plan = try repair(from: backup, accepts: accepts)
    #expect(plan.records.contains { $0.kind == .item && $0.outcome == .fromBackup } != accepts)
    #expect(try values()["bob"] == (accepts ? nil : "1"))
  }

  /// A sound node proves that an item is gone, also if nothing else of it is left, and another node is damaged.
  @Test func anItemBelowASoundNodeStaysRemoved() throws {
    var vault = try Vault.throwAway(in: store)
    try vault.transaction { transaction in
      for number in 0..<400 {
        try transaction.add(Item(service: "s", account: "\(number)"), secret: Secret(testing: "\(number)"), at: .test)
      }
    }
    let past = store.copy()
    let references = try vault.entries().entries.map(\.reference).sorted { $0.id < $1.id }
    let (removed, other) = (try #require(references.first), try #require(references.last))
    _ = try vault.transaction { try $0.remove(removed) }
    let damaged = [other.id.byte(at: 0)]
    try #require(store.nodes[damaged] != nil && damaged != [removed.id.byte(at: 0)])
    store.nodes[damaged] = [1]
    #expect(try repair(from: past).count(.fromBackup) > 0)
    #expect(try values().count == 400 && Vault.openThrowAway(store).entry(Item(service: "s", account: "after")) != nil)
    #expect(try !vault.entries().entries.contains { $0.reference.id == removed.id })
  }

  /// A damaged row cannot be kept, however new it is: that of the backup takes its place without a question.
  @Test(arguments: [false, true]) func aDamagedRowGivesWay(accepts: Bool) throws {
    var vault = try Vault.throwAway(in: store)
    try set(Self.bob, "1", &vault)
    let past = store.copy()
    try set(Self.bob, "2", &vault)
    let id = try #require(try vault.entry(Self.bob)).reference.id
    let row = try #require(store.records[id])
    store.records[id] = SealedRecord(
      id: id, group: row.head.group, meta: row.head.meta,
      attributes: [row.head.attributes[0] ^ 1] + row.head.attributes.dropFirst(), secret: row.secret)
    let found = try repair(from: past, accepts: accepts, isMixed: true).records.first { $0.id == id }
    #expect(found?.outcome == .fromBackup && found?.replaced == nil)
    #expect(try values()["bob"] == "1")
  }

  @Test func aRowOfThisDeviceIsNotLostWithoutItsKey() throws {
    let key = [UInt8](repeating: 7, count: 32)
    var vault = try Vault.throwAway(in: store, deviceKey: Secret(testing: key))
    let reference = try vault.add(
      Self.bob, secret: Secret(testing: "1"), accessible: .whenUnlockedThisDevice, at: .test)
    damageTheIndex()
    for accepts in [false, true] {
      let plan = try Vault.openThrowAway(store).repairPlan(from: nil, acceptsUnproven: accepts)
      let row = plan.records.first { $0.id == reference.id }
      #expect(row?.outcome == .unproven && row?.reason == .deviceKeyMissing && plan.droppedCount == (accepts ? 1 : 2))
    }
    #expect(try vault.repairPlan(from: nil, acceptsUnproven: true).droppedCount == 0)
  }

  /// Rows of earlier states, put back under a damaged index: whatever they are, they do not stop the repair.
  @Test(arguments: 0..<60) func earlierRowsDoNotStopARepair(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var vault = try Vault.throwAway(in: store)
    var states: [MemoryStore] = []
    let items = (0..<3).map { Item(service: "s", account: "\($0)") }
    for step in 0..<14 {
      let item = items[Int.random(in: 0..<items.count, using: &random)]
      if let entry = try vault.entry(item), Int.random(in: 0..<3, using: &random) == 0 {
        try vault.remove(entry.reference, at: .test)
      } else {
        try set(item, "\(step)", &vault)
      }
      states.append(store.copy())
    }
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let past = try #require(states.randomElement(using: &random))
      let row = try #require(past.records.keys.sorted().randomElement(using: &random))
      store.records[row] = past.records[row]
    }
    damageTheIndex()
    let damaged = store.copy()
    try repair(accepts: true, isMixed: true)
    store.records = damaged.records
    (store.header, store.nodes) = (damaged.header, damaged.nodes)
    try repair(from: states[7], accepts: true, isMixed: true)
  }
}
