import CofferTesting
import Testing

@testable import SecretMemory
@testable import VaultCore
@testable import VaultUpkeep

/// A store that gives a row twice, or without its identifier, as a damaged file may.
private final class FaultyRows: Store, Rows {
  private let inner: MemoryStore
  private let faulty: Identifier
  private let isTwice: Bool
  private(set) var removesNameless: [Bool] = []

  init(_ inner: MemoryStore, _ faulty: Identifier, isTwice: Bool) {
    (self.inner, self.faulty, self.isTwice) = (inner, faulty, isTwice)
  }

  func read<Result: ~Copyable>(_ body: (any Rows) throws -> Result) throws -> Result { try body(self) }
  func commit(_ prepare: (any Rows) throws -> Change) throws {
    try inner.commit { _ in
      let change = try prepare(self)
      removesNameless.append(change.removesNamelessRows)
      return change
    }
  }
  func header(_ key: Int) throws -> [UInt8]? { try inner.header(key) }
  func headerKeys() throws -> [Int64] { try inner.headerKeys() }
  func node(_ prefix: [UInt8]) throws -> [UInt8]? { try inner.node(prefix) }
  func forEachNode(_ body: ([UInt8]) throws -> Void) throws { try inner.forEachNode(body) }
  func record(_ id: Identifier) throws -> RecordHead? { try inner.record(id) }
  func secret(_ id: Identifier) throws -> [UInt8]? { try inner.secret(id) }

  func forEachRecord(under prefix: [UInt8], _ body: (Identifier?, Result<RecordHead, VaultError>) throws -> Void) throws {
    try inner.forEachRecord(under: prefix) { id, row in
      try body(id, row)
      guard id == faulty else { return }
      try body(isTwice ? id : nil, isTwice ? row : .failure(VaultError(.columnMismatch)))
    }
  }
}

/// Rows that a repair must not touch, and those that keep it from a decision.
@Suite struct RepairRowTests {
  let store = MemoryStore()
  static let bob = Item(service: "github", account: "bob")
  static let eve = Item(service: "github", account: "eve")

  private func key(_ byte: UInt8) throws -> Secret { try Secret(testing: [UInt8](repeating: byte, count: 32)) }

  func set(
    _ item: Item, _ values: [String], _ vault: inout Vault, accessible: Accessibility = .whenUnlocked
  ) throws -> Reference {
    let reference = try vault.add(item, secret: Secret(testing: values[0]), accessible: accessible, at: .test)
    for value in values.dropFirst() { try vault.update(reference, secret: Secret(testing: value), at: .test) }
    return reference
  }

  func value(_ item: Item, _ vault: borrowing Vault) throws -> String? {
    guard let entry = try vault.entry(item) else { return nil }
    return String(decoding: try vault.secret(of: entry.reference).copyIntoUnprotectedBytes(), as: UTF8.self)
  }

  func spoil(_ id: Identifier, in store: MemoryStore? = nil) throws {
    let store = store ?? self.store
    var parts = TamperTests.SealedRecordParts(try #require(store.records[id]))
    parts.attributes[30] ^= 1
    store.records[id] = parts.record(id)
  }

  /// - Parameter isCounted: Whether no former version has to go because its item has no room for it.
  @discardableResult func repair(
    _ vault: inout Vault, from backup: MemoryStore? = nil, accepts: Bool = false, isCounted: Bool = true
  ) throws -> RepairPlan {
    let plan = try vault.repairPlan(from: backup, acceptsUnproven: accepts)
    try vault.repair(plan, from: backup, acceptsUnproven: accepts, at: .test)
    #expect(try vault.verify().problems == [] && (vault.verify().recordCount == plan.recordCount) == isCounted)
    return plan
  }

  // MARK: Faults of the rows

  /// The second one is removed, and its identifier is that of a record that stays.
  @Test func aRowThatIsThereTwiceStays() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try set(Self.bob, ["1"], &vault)
    var faulty = try Vault.openThrowAway(FaultyRows(store, bob.id, isTwice: true))
    let plan = try faulty.repairPlan(from: nil, acceptsUnproven: false)
    #expect(plan.records.map(\.outcome) == [.removed])
    try faulty.repair(plan, from: nil, acceptsUnproven: false, at: .test)
    #expect(try value(Self.bob, Vault.openThrowAway(store)) == "1" && Vault.openThrowAway(store).verify().isSound)
  }

  /// No name removes it: the store finds it by its form.
  @Test func aRowWithoutAnIdentifierGoes() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try set(Self.bob, ["1"], &vault)
    let rows = FaultyRows(store, bob.id, isTwice: false)
    var faulty = try Vault.openThrowAway(rows)
    let plan = try faulty.repairPlan(from: nil, acceptsUnproven: true)
    #expect(plan.namelessCount == 1 && plan.records.isEmpty && !plan.isSound)
    try faulty.repair(plan, from: nil, acceptsUnproven: true, at: .test)
    #expect(rows.removesNameless == [true])
    #expect(try value(Self.bob, Vault.openThrowAway(store)) == "1")
  }

  /// Too little memory is no damage: nothing is lost for it.
  @Test(arguments: [VaultError.Code.outOfMemory, .memoryNotLockable]) func aFailureOfTheMachineIsNoDamage(
    failure: VaultError.Code
  ) throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try set(Self.bob, ["1"], &vault)
    store.secretError = (bob.id, VaultError(failure))
    #expect(code { _ = try vault.repairPlan(from: nil, acceptsUnproven: false) } == failure)
  }

  /// The header says how many records there are. Below a damaged node they are not counted.
  @Test(arguments: [false, true]) func aWrongCountIsMended(withDamagedNode: Bool) throws {
    var vault = try Vault.throwAway(in: store)
    _ = try set(Self.bob, ["1"], &vault)
    if withDamagedNode {
      store.nodes[[]] = [1]
    } else {
      var header = try SealedHeader(reading: store).header
      header.recordCount = 17
      store.header[0] = header.sealed(with: vault.keys.integrity).bytes
      vault = try Vault.openThrowAway(store)
    }
    let plan = try vault.repairPlan(from: nil, acceptsUnproven: true)
    #expect(plan.isMiscounted != withDamagedNode && !plan.isSound)
    try repair(&vault, accepts: true)
    #expect(try value(Self.bob, vault) == "1")
  }

  // MARK: Rows that stay

  @Test func rowsThatAreWholeAreNotSealedAnew() throws {
    var vault = try Vault.throwAway(in: store)
    let (bob, eve) = (try set(Self.bob, ["1", "2", "3"], &vault), try set(Self.eve, ["1"], &vault))
    try spoil(eve.id)
    let before = store.records
    #expect(try repair(&vault).count(.lost) == 1)
    #expect(store.records == before.filter { $0.key != eve.id } && store.records[bob.id] != nil)
  }

  /// A former version that opens here belongs to an item that does not: the other device has written it anew.
  @Test func aVersionOfAnItemOfAnotherDeviceStays() throws {
    let device = Accessibility.whenUnlockedThisDevice
    var vault = try Vault.throwAway(in: store, deviceKey: key(1))
    let bob = try set(Self.bob, ["1", "2"], &vault, accessible: device)
    let history = try vault.history(of: bob)
    let eve = try set(Self.eve, ["1"], &vault)
    var other = try Vault.openThrowAway(store, deviceKey: key(2))
    let theirs = try other.add(Item(service: "s", account: "x"), secret: Secret(count: 0), accessible: device, at: .test)
    try other.transaction { transaction in
      let place = try transaction.place(device, in: transaction.group(theirs.group))
      let attributes = Self.bob.encoded(HistoryMarks(former: history.former, number: history.entry.version))
      let row = try place.seal(
        bob.id, .item, attributes, Secret(testing: "2"), transaction.generation, transaction.keys)
      try transaction.edit(bob.id, row)
    }
    vault = try Vault.openThrowAway(store, deviceKey: key(1))
    #expect(try vault.verify().isSound && vault.verify().unavailableCount == 2)
    try spoil(eve.id)
    let before = store.records
    #expect(try repair(&vault).historyFaultCount == 0)
    #expect(store.records == before.filter { $0.key != eve.id })
  }

  /// If all items of this device open, its former versions of a lost one are found and kept.
  @Test func versionsOfALostItemOfThisDeviceStay() throws {
    var vault = try Vault.throwAway(in: store, deviceKey: key(1))
    let bob = try set(Self.bob, ["1", "2"], &vault, accessible: .whenUnlockedThisDevice)
    try spoil(bob.id)
    #expect(try repair(&vault).historyFaultCount == 1)
    #expect(try vault.history(of: bob).removed != nil)
  }

  /// Whatever the order of the rows: the newest version is that of the removed item, and the others are its list, newest first.
  @Test(arguments: 0..<8) func theNewestVersionStandsForALostItem(number: Int) throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try set(Item(service: "s", account: "\(number)"), ["1", "2", "3", "4", "5", "6"], &vault)
    let former = try vault.history(of: bob).former
    try spoil(bob.id)
    try repair(&vault)
    let history = try vault.history(of: bob)
    #expect(history.entry.version == former[0].number && history.former == Array(former.dropFirst()))
  }

  // MARK: With a backup

  /// The item was removed and made anew, and the row of its removal was put back: it is older than the item of the backup.
  @Test func anOlderRemovalDoesNotKeepAnItemAway() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try set(Self.bob, ["1"], &vault)
    try vault.remove(bob, at: .test)
    let head = try vault.reading { state, keyring in try keyring.existing(.standard, in: state).historyID(bob.id, .max) }
    let removal = try #require(store.records[head])
    _ = try set(Self.bob, ["2"], &vault)
    let backup = store.copy()
    store.records[head] = removal
    store.records[bob.id] = nil
    store.nodes[[]] = [1]
    vault = try Vault.openThrowAway(store)
    let plan = try vault.repairPlan(from: backup, acceptsUnproven: true)
    #expect(plan.records.first { $0.id == bob.id }?.outcome == .fromBackup)
    try vault.repair(plan, from: backup, acceptsUnproven: true, at: .test)
    #expect(try value(Self.bob, vault) == "2" && vault.verify().problems == [])
  }

  /// The group comes from the backup, and an item in it, which stays, loses a former version.
  @Test func anItemOfARestoredGroupLosesAVersion() throws {
    let team = AccessGroup(unchecked: "team")
    var vault = try Vault.throwAway(in: store)
    try vault.createGroup(team, at: .test)
    let backup = store.copy()
    let bob = try vault.add(Self.bob, secret: Secret(testing: "0"), to: team, at: .test)
    for number in 1...2 { try vault.update(bob, secret: Secret(testing: "\(number)"), at: .test) }
    let (record, version) = try vault.reading { state, keyring in
      let group = try keyring.existing(team, in: state)
      let item = try #require(try state.record(bob.id))
      let former = try state.openItem(item, meta: RecordMeta(parsing: item, header: state.header), group: group).former
      return (try state.keys.groupRecordID(team), group.historyID(former[0].origin, former[0].number))
    }
    try spoil(record)
    try spoil(version)
    vault = try Vault.openThrowAway(store)
    let plan = try repair(&vault, from: backup)
    #expect(plan.count(.fromBackup) == 1 && plan.count(.lost) == 1)
    #expect(try vault.history(of: bob).former.count == 1)
  }

  /// The state of before does not pass for the vault from then on.
  @Test func theAnchorIsThatOfTheRepair() throws {
    let anchors = MemoryAnchorStore()
    var vault = try Vault.throwAway(in: store, anchor: anchors)
    let bob = try set(Self.bob, ["1"], &vault)
    try spoil(bob.id)
    let before = store.copy()
    try repair(&vault)
    #expect(code { _ = try Vault.openThrowAway(before, anchor: anchors) } == .rolledBack)
  }
}
