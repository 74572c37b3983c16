import CofferTesting
import SecretMemory
import Testing
import VaultUpkeep

@testable import VaultCore

/// Each kind of damage, and what is left after the repair.
@Suite struct RepairTests {
  private static let work = AccessGroup(unchecked: "work")

  /// Eight items in two groups, one of them with former versions, and one that was removed; and the store as it was before the last write.
  private static func scene(_ store: MemoryStore) throws -> MemoryStore {
    var vault = try Vault.throwAway(in: store)
    try vault.createGroup(work, at: .test)
    for number in 0..<8 {
      try vault.add(
        Item(service: "s", account: "\(number)"), secret: Secret(testing: "value \(number)"), to: number < 4 ? .standard : work,
        at: .test)
    }
    let first = try #require(try vault.entry(Item(service: "s", account: "0"))).reference
    for number in 1...2 { try vault.update(first, secret: Secret(testing: "new \(number)"), at: .test) }
    let past = store.copy()
    try vault.add(Item(service: "s", account: "late"), secret: Secret(testing: "late"), at: .test)
    return past
  }

  private static func values(_ store: MemoryStore) throws -> [String: String] {
    let vault = try Vault.openThrowAway(store)
    var values: [String: String] = [:]
    for entry in try vault.entries().entries {
      let secret = try vault.secret(of: entry.reference)
      values["\(entry.reference.group)/\(entry.item["account"] ?? "")"] = String(
        decoding: secret.copyIntoUnprotectedBytes(), as: UTF8.self)
    }
    return values
  }

  @discardableResult
  private static func repair(
    _ store: MemoryStore, from backup: MemoryStore? = nil, acceptsUnproven: Bool = false
  ) throws -> RepairPlan {
    var vault = try Vault.openThrowAway(store)
    let plan = try vault.repairPlan(from: backup, acceptsUnproven: acceptsUnproven)
    try vault.repair(plan, from: backup, acceptsUnproven: acceptsUnproven, at: .test)
    let found = try Vault.openThrowAway(store).verify()
    #expect(found.isSound && found.recordCount == plan.recordCount, "\(found.problems), \(plan)")
    return plan
  }

  private static func rows(_ store: MemoryStore, kind: UInt8) -> [Identifier] {
    store.records.filter { $0.value.head.meta.first == kind }.keys.sorted()
  }

  private static func spoil(_ store: MemoryStore, _ id: Identifier) throws {
    let row = try #require(store.records[id])
    let head = row.head
    store.records[id] = SealedRecord(
      id: id, group: head.group, meta: head.meta, attributes: [head.attributes[0] ^ 1] + head.attributes.dropFirst(),
      secret: row.secret)
  }

  @Test func aSoundVaultNeedsNothing() throws {
    let store = MemoryStore()
    _ = try Self.scene(store)
    let plan = try Vault.openThrowAway(store).repairPlan(from: nil, acceptsUnproven: false)
    #expect(plan.isSound && plan.keptCount == UInt64(store.records.count))
  }

  @Test func aDamagedItemIsLostAndTheOthersStay() throws {
    let store = MemoryStore()
    let past = try Self.scene(store)
    let before = try Self.values(store)
    let lost = Self.rows(store, kind: 1)[0]
    try Self.spoil(store, lost)
    let copy = store.copy()
    let plan = try Self.repair(store)
    #expect(plan.records.map(\.id) == [lost] && plan.records[0].outcome == .lost && plan.records[0].reason == .recordForged)
    let after = try Self.values(store)
    #expect(after.count == before.count - 1 && after.allSatisfy { before[$0.key] == $0.value })
    // The backup has it, unless it is the newest one.
    let restored = try Self.repair(copy, from: past)
    if restored.records[0].outcome == .fromBackup { #expect(try Self.values(copy) == before) }
  }

  @Test func aMissingRowIsLost() throws {
    let store = MemoryStore()
    _ = try Self.scene(store)
    let lost = Self.rows(store, kind: 1)[1]
    store.records[lost] = nil
    #expect(try Self.repair(store).records.map(\.reason) == [.recordMissing])
  }

  /// Below a damaged node nothing is proven.
  @Test(arguments: [false, true]) func rowsBelowADamagedNode(accepts: Bool) throws {
    let store = MemoryStore()
    _ = try Self.scene(store)
    let before = try Self.values(store)
    store.nodes[[]] = [UInt8](repeating: 1, count: 48)
    let plan = try Self.repair(store, acceptsUnproven: accepts)
    #expect(plan.nodeCount == 1 && plan.keptCount == 0)
    #expect(try Self.values(store) == (accepts ? before : [:]))
    #expect(plan.records.allSatisfy { $0.outcome == (accepts ? .accepted : .unproven) || $0.outcome == .lost })
  }

  @Test func aLostGroupTakesItsItemsUnlessABackupHasIt() throws {
    let store = MemoryStore()
    let past = try Self.scene(store)
    let before = try Self.values(store)
    let vault = try Vault.openThrowAway(store)
    let record = try vault.reading { state, _ in try state.keys.groupRecordID(Self.work) }
    try Self.spoil(store, record)
    let copy = store.copy()
    let plan = try Self.repair(store)
    #expect(plan.count(.lost) == 5)
    #expect(try Self.values(store).keys.allSatisfy { $0.hasPrefix("default/") })
    #expect(try Self.repair(copy, from: past).records.map(\.outcome) == [.fromBackup])
    #expect(try Self.values(copy) == before)
  }

  /// The former versions of a lost item make an item that can be restored; a lost former version leaves the others.
  @Test func formerVersionsOfALostItemStay() throws {
    let store = MemoryStore()
    _ = try Self.scene(store)
    let vault = try Vault.openThrowAway(store)
    let reference = try #require(try vault.entry(Item(service: "s", account: "0"))).reference
    let copy = store.copy()
    try Self.spoil(store, reference.id)
    try Self.repair(store)
    let history = try Vault.openThrowAway(store).history(of: reference)
    #expect(history.removed != nil && history.former.count == 1)
    let row = Self.rows(copy, kind: 6)[0]
    try Self.spoil(copy, row)
    #expect(try Self.repair(copy).records.map(\.id) == [row])
    #expect(try Vault.openThrowAway(copy).history(of: reference).former.count == 1)
  }

  @Test func unlistedRowsAndNodesGo() throws {
    let store = MemoryStore()
    let past = try Self.scene(store)
    let planted = try #require(Identifier([UInt8](repeating: 0x55, count: 16)))
    let row = try #require(past.records.values.first)
    store.records[planted] = SealedRecord(
      id: planted, group: row.head.group, meta: row.head.meta, attributes: row.head.attributes, secret: row.secret)
    store.nodes[[7]] = [1, 2, 3]
    let plan = try Self.repair(store)
    #expect(plan.records.map(\.outcome) == [.removed] && plan.nodeCount == 1)
    #expect(store.records[planted] == nil && store.nodes[[7]] == nil)
  }

  @Test func aDamagedHeaderIsNotRepaired() throws {
    let store = MemoryStore()
    _ = try Self.scene(store)
    let vault = try Vault.openThrowAway(store)
    store.header[0]?[120] ^= 1
    #expect(code { _ = try vault.repairPlan(from: nil, acceptsUnproven: true) } == .headerForged)
  }

  @Test func onlyABackupOfThisVaultIsTaken() throws {
    let store = MemoryStore()
    let past = try Self.scene(store)
    let other = MemoryStore()
    _ = try Vault.throwAway(in: other)
    let vault = try Vault.openThrowAway(store)
    #expect(code { _ = try vault.repairPlan(from: other, acceptsUnproven: false) } == .repairFromOtherVault)
    let earlier = try Vault.openThrowAway(past)
    #expect(code { _ = try earlier.repairPlan(from: store, acceptsUnproven: false) } == .repairFromNewer)
  }

  @Test func aPlanOfAnotherStateIsNotCarriedOut() throws {
    let store = MemoryStore()
    _ = try Self.scene(store)
    try Self.spoil(store, Self.rows(store, kind: 1)[0])
    var vault = try Vault.openThrowAway(store)
    let plan = try vault.repairPlan(from: nil, acceptsUnproven: false)
    try Self.spoil(store, Self.rows(store, kind: 1)[1])
    #expect(code { try vault.repair(plan, from: nil, acceptsUnproven: false, at: .test) } == .repairPlanOutdated)
  }

  /// Random damage: the vault is sound afterwards, and each value that was proven before is there.
  @Test(arguments: 0..<40) func nothingProvenIsLost(seed: Int) throws {
    let store = MemoryStore()
    _ = try Self.scene(store)
    let before = try Self.values(store)
    var random = Seeded(UInt64(seed))
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let id = try #require(store.records.keys.sorted().randomElement(using: &random))
      switch Int.random(in: 0..<3, using: &random) {
      case 0: store.records[id] = nil
      case 1: try Self.spoil(store, id)
      default: store.nodes[[UInt8.random(in: 1...255, using: &random)]] = [1]
      }
    }
    let proven = try Self.proven(store)
    try Self.repair(store)
    #expect(try Self.faults(store, before, proven) == [])
  }

  /// The values that a damaged vault still proves.
  private static func proven(_ store: MemoryStore) throws -> [String: String] {
    var proven: [String: String] = [:]
    let vault = try Vault.openThrowAway(store)
    guard let list = try? vault.entries(damaged: { _ in }) else { return [:] }
    for entry in list.entries {
      guard let secret = try? vault.secret(of: entry.reference) else { continue }
      let name = "\(entry.reference.group)/\(entry.item["account"] ?? "")"
      proven[name] = String(decoding: secret.copyIntoUnprotectedBytes(), as: UTF8.self)
    }
    return proven
  }

  /// The names whose value was proven and is lost, and those that have a value that they did not have.
  private static func faults(_ store: MemoryStore, _ before: [String: String], _ proven: [String: String]) throws -> [String] {
    let after = try values(store)
    let lost = proven.filter { after[$0.key] != $0.value }.keys.map { "lost \($0)" }
    let other = after.filter { before[$0.key] != $0.value }.keys.map { "other \($0)" }
    return (lost + other).sorted()
  }

  /// The control of `nothingProvenIsLost`: a repair that drops one sound item, or brings an old value, is found.
  @Test func aRepairThatLosesAnItemIsFound() throws {
    let store = MemoryStore()
    _ = try Self.scene(store)
    let before = try Self.values(store)
    try Self.spoil(store, Self.rows(store, kind: 1)[0])
    let proven = try Self.proven(store)
    #expect(proven.count == before.count - 1)
    try Self.repair(store)
    #expect(try Self.faults(store, before, proven) == [])
    var vault = try Vault.openThrowAway(store)
    let entries = try vault.entries().entries
    let (dropped, changed) = (try #require(entries.first), try #require(entries.last))
    try vault.remove(dropped.reference, at: .test)
    try vault.update(changed.reference, secret: Secret(testing: "another"), at: .test)
    let names = [dropped, changed].map { "\($0.reference.group)/\($0.item["account"] ?? "")" }
    #expect(try Self.faults(store, before, proven) == ["lost \(names[0])", "lost \(names[1])", "other \(names[1])"].sorted())
  }

  private struct Seeded: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }
    mutating func next() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state
    }
  }
}
