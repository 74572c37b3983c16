import CofferTesting
import Testing

@testable import SecretMemory
@testable import VaultCore
@testable import VaultUpkeep

/// Former versions of items: section 8.9 of FORMAT.md.
@Suite struct HistoryTests {
  let store = MemoryStore()
  static let bob = Item(service: "github", account: "bob")

  private func time(_ day: Int64) -> Timestamp { Timestamp(secondsSince1970: Timestamp.test.secondsSince1970 + day * 86_400) }

  private func text(_ reference: Reference, _ version: UInt64, _ vault: borrowing Vault) throws -> String {
    try String(decoding: vault.secret(of: reference, version: version).copyIntoUnprotectedBytes(), as: UTF8.self)
  }

  @Test func aReplacedValueIsAFormerVersion() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try vault.add(Self.bob, secret: Secret(testing: "one"), at: time(0))
    let first = try vault.entry(bob).version
    try vault.update(bob, secret: Secret(testing: "two"), at: time(1)) { $0.label = "new" }
    let history = try vault.history(of: bob)
    #expect(history.former.map(\.number) == [first] && history.former.map(\.replaced) == [time(1)])
    #expect(try text(bob, first, vault) == "one" && text(bob, history.entry.version, vault) == "two")
    #expect(code { _ = try text(bob, 999, vault) } == .versionNotFound)
    #expect(try vault.entries().entries.map(\.reference) == [bob])
    #expect(try vault.verify().problems == [])
  }

  @Test func aWriteThatChangesNothingMakesNoVersion() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try vault.add(Self.bob, secret: Secret(testing: "one"), at: time(0))
    let first = try vault.entry(bob).version
    try vault.update(bob, secret: Secret(testing: "one"), at: time(1))
    #expect(try vault.history(of: bob).former.isEmpty)
    #expect(try vault.entry(bob).version == first)
  }

  @Test func renamingAndMovingKeepVersions() throws {
    var vault = try Vault.throwAway(in: store)
    let team = try AccessGroup("team")
    try vault.createGroup(team, at: time(0))
    var bob = try vault.add(Self.bob, secret: Secret(testing: "one"), at: time(0))
    let first = try vault.entry(bob).version
    try vault.update(bob, secret: Secret(testing: "two"), at: time(1))
    let second = try vault.entry(bob).version
    bob = try vault.update(bob, at: time(2)) { $0["account"] = "robert" }
    bob = try vault.move(bob, to: team, at: time(3))
    bob = try vault.transaction { try $0.move(bob, to: team, accessible: .afterFirstUnlock, at: time(4)) }
    #expect(try vault.entry(bob).version == second)
    #expect(try vault.history(of: bob).former.map(\.number) == [first])
    #expect(try text(bob, first, vault) == "one" && text(bob, second, vault) == "two")
    #expect(try vault.verify().problems == [])
    for record in store.records.values where record.id.byte(at: 0) >= 0x80 { #expect(record.head.meta[1] == 2) }
  }

  /// Also that of an item which other devices could read before: its former values are no longer readable there.
  @Test(arguments: [
    (Accessibility.whenUnlocked, Accessibility.whenUnlockedThisDevice), (.whenUnlockedThisDevice, .afterFirstUnlock),
  ])
  func anotherClassSealsEachVersionAnew(_ before: Accessibility, _ after: Accessibility) throws {
    var vault = try Vault.throwAway(in: store, deviceKey: LockScene.device())
    let bob = try vault.add(Self.bob, secret: Secret(testing: "0"), accessible: before, at: time(0))
    for day in 1...3 { try vault.update(bob, secret: Secret(testing: "\(day)"), at: time(Int64(day))) }
    let history = try vault.history(of: bob)
    let old = store.records
    _ = try vault.transaction { try $0.update(bob, accessible: after, at: time(4)) { _ in } }
    #expect(try vault.history(of: bob).former == history.former && vault.entry(bob).version == history.entry.version)
    let rows = store.records.values.filter { $0.id == bob.id || $0.id.byte(at: 0) >= 0x80 }
    #expect(rows.count == 4 && rows.allSatisfy { $0.head.meta[1] == after.rawValue && $0.secret != old[$0.id]?.secret })
    let stranger = try Vault.openThrowAway(store)
    for (version, value) in zip([history.entry.version] + history.former.map(\.number), ["3", "2", "1", "0"]) {
      #expect(try text(bob, version, vault) == value)
      let reason: VaultError.Code? = after.isThisDeviceOnly ? .deviceKeyMissing : nil
      #expect(code { _ = try text(bob, version, stranger) } == reason)
    }
    try vault.remove(bob, at: time(5))
    #expect(try text(bob, history.former[2].number, vault) == "0" && vault.verify().problems == [])
  }

  @Test func aRemovedItemIsRestoredWithItsVersions() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try vault.add(Self.bob, secret: Secret(testing: "one"), at: time(0))
    let first = try vault.entry(bob).version
    try vault.update(bob, secret: Secret(testing: "two"), at: time(1))
    let second = try vault.entry(bob).version
    #expect(try vault.remove(bob, at: time(2)))
    #expect(try vault.entries().entries.isEmpty && vault.entry(Self.bob) == nil)
    #expect(try vault.removedItems().map(\.entry.item["account"]) == ["bob"])
    #expect(try vault.history(of: bob).removed == time(2))
    #expect(try text(bob, first, vault) == "one" && text(bob, second, vault) == "two")
    _ = try vault.transaction { try $0.restore(bob, at: time(3)) }
    #expect(try vault.history(of: bob).former.map(\.number) == [second, first])
    #expect(try String(decoding: bytes(of: bob, in: vault), as: UTF8.self) == "two")
    #expect(try vault.removedItems().isEmpty && vault.verify().problems == [])
    _ = try vault.transaction { try $0.restore(bob, version: first, at: time(4)) }
    #expect(try String(decoding: bytes(of: bob, in: vault), as: UTF8.self) == "one")
  }

  @Test func anItemMadeAnewTakesOverTheVersionsOfTheRemovedOne() throws {
    var vault = try Vault.throwAway(in: store)
    var bob = try vault.add(Self.bob, secret: Secret(testing: "one"), at: time(0))
    let first = try vault.entry(bob).version
    try vault.remove(bob, at: time(1))
    bob = try vault.add(Self.bob, secret: Secret(testing: "two"), accessible: .afterFirstUnlock, at: time(2))
    #expect(try vault.history(of: bob).former.map(\.number) == [first])
    let eve = try vault.add(Item(service: "github", account: "eve"), secret: Secret(testing: "eve"), at: time(2))
    try vault.remove(bob, at: time(3))
    let renamed = try vault.update(eve, at: time(4)) { $0["account"] = "bob" }
    #expect(try vault.history(of: renamed).former.count == 2)
    #expect(try text(renamed, first, vault) == "one")
    #expect(try vault.removedItems().isEmpty && vault.verify().problems == [])
  }

  @Test func theLimitsHold() throws {
    var vault = try Vault.throwAway(in: store)
    var limits = Limits()
    try limits.set(.historyVersions, to: 3)
    try limits.set(.historyDays, to: 10)
    let set = limits
    try vault.transaction { try $0.setLimits(set) }
    #expect(code { try limits.set(.historyVersions, to: 65) } == .limitOutOfRange)
    let bob = try vault.add(Self.bob, secret: Secret(testing: "0"), at: time(0))
    for day in 1...6 { try vault.update(bob, secret: Secret(testing: "\(day)"), at: time(Int64(day))) }
    #expect(try vault.history(of: bob).former.map(\.replaced) == [time(6), time(5), time(4)])
    #expect(store.records.keys.count { $0.byte(at: 0) >= 0x80 } == 3)
    #expect(try vault.purgeExpired(at: time(15)) == 1)
    #expect(try vault.history(of: bob).former.map(\.replaced) == [time(6), time(5)])
    try vault.remove(bob, at: time(16))
    #expect(try vault.purgeExpired(at: time(40)) == 2)
    #expect(!store.records.keys.contains { $0.byte(at: 0) >= 0x80 })
    try limits.set(.historyVersions, to: 0)
    let none = limits
    try vault.transaction { try $0.setLimits(none) }
    let eve = try vault.add(Item(service: "x", account: "eve"), secret: Secret(testing: "0"), at: time(0))
    try vault.update(eve, secret: Secret(testing: "1"), at: time(1))
    #expect(try vault.history(of: eve).former.isEmpty)
    #expect(try !vault.remove(eve, at: time(2)))
    #expect(try vault.verify().problems == [])
  }

  @Test func aVersionIsPurgedAlone() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try vault.add(Self.bob, secret: Secret(testing: "0"), at: time(0))
    for day in 1...3 { try vault.update(bob, secret: Secret(testing: "\(day)"), at: time(Int64(day))) }
    let (present, former) = (try vault.entry(bob).version, try vault.history(of: bob).former.map(\.number))
    #expect(try vault.transaction { try $0.purge(bob) { $0.number == former[1] } } == 1)
    #expect(try vault.history(of: bob).former.map(\.number) == [former[0], former[2]])
    #expect(try vault.entry(bob).version == present)
    try vault.remove(bob, at: time(5))
    #expect(try vault.transaction { try $0.purge(bob) { $0.number == present } } == 1)
    #expect(try vault.history(of: bob).entry.version == former[0])
    #expect(try text(bob, former[0], vault) == "2" && text(bob, former[2], vault) == "0")
    #expect(try vault.verify().problems == [])
    #expect(try vault.transaction { try $0.purge(bob) { _ in true } } == 2)
    #expect(code { _ = try vault.history(of: bob) } == .notFound)
    #expect(try vault.verify().problems == [])
  }

  /// An item that does not open goes without a head; its versions are found by the walk.
  @Test func aDamagedItemIsRemovedAndItsVersionsArePurged() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try vault.add(Self.bob, secret: Secret(testing: "one"), at: time(0))
    try vault.update(bob, secret: Secret(testing: "two"), at: time(1))
    let record = try #require(store.records[bob.id])
    store.records[bob.id] = nil
    #expect(try !vault.remove(Self.bob, at: time(2)))
    #expect(try vault.verify().problems.map(\.code) == [.historyUnlisted])
    #expect(try vault.purgeExpired(at: time(2)) == 1)
    #expect(try vault.verify().problems == [] && record.id == bob.id)
  }

  @Test func aFlagKeepsWritersWithoutHistoryOut() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try vault.add(Self.bob, secret: Secret(testing: "one"), at: time(0))
    #expect(try SealedHeader(reading: store).header.readOnlyFlags == 0)
    try vault.update(bob, secret: Secret(testing: "two"), at: time(1))
    #expect(try SealedHeader(reading: store).header.readOnlyFlags == Header.historyFlag)
  }

  @Test func historyOfAnItemIsTwoLookUps() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try vault.add(Self.bob, secret: Secret(testing: "0"), at: time(0))
    for day in 1...9 { try vault.update(bob, secret: Secret(testing: "\(day)"), at: time(Int64(day))) }
    let counting = CountingStore(store)
    let present = try Vault.openThrowAway(counting)
    _ = try present.contains(.standard)
    counting.lookUps = 0
    #expect(try present.history(of: bob).former.count == 9)
    #expect(counting.lookUps <= 2)
    try vault.remove(bob, at: time(10))
    let removed = try Vault.openThrowAway(counting)
    _ = try removed.contains(.standard)
    counting.lookUps = 0
    #expect(try removed.history(of: bob).former.count == 9)
    #expect(counting.lookUps <= 2)
  }

  @Test func aLockedVaultKeepsVersionsOfItemsAfterFirstUnlock() throws {
    var vault = try Vault.throwAway(in: store)
    var limits = Limits()
    try limits.set(.historyVersions, to: 1)
    let set = limits
    try vault.transaction { try $0.setLimits(set) }
    let bob = try vault.add(Self.bob, secret: Secret(testing: "0"), accessible: .afterFirstUnlock, at: time(0))
    vault.lock()
    for day in 1...3 { try vault.update(bob, secret: Secret(testing: "\(day)"), at: time(Int64(day))) }
    #expect(try vault.history(of: bob).former.map(\.replaced) == [time(3)])
    #expect(try vault.remove(bob, at: time(4)))
  }

  // MARK: Tampering

  /// A former version or head that is put in the place of the item is refused, because each row is sealed for its own place.
  @Test(arguments: [true, false]) func aFormerVersionIsNotTheItem(isRemoved: Bool) throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try vault.add(Self.bob, secret: Secret(testing: "old"), at: time(0))
    try vault.update(bob, secret: Secret(testing: "new"), at: time(1))
    if isRemoved { try vault.remove(bob, at: time(2)) }
    let former = try #require(store.records.values.first { $0.id.byte(at: 0) >= 0x80 })
    var parts = TamperTests.SealedRecordParts(former)
    parts.meta[0] = 1
    store.records[bob.id] = parts.record(bob.id)
    if isRemoved {
      #expect(try vault.entry(Self.bob) == nil)
      #expect(try vault.verify().problems.map(\.code) == [.recordUnlisted])
    } else {
      #expect(code { _ = try vault.entry(bob) } == .recordForged)
    }
  }

  @Test func aMissingVersionIsReported() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try vault.add(Self.bob, secret: Secret(testing: "old"), at: time(0))
    try vault.update(bob, secret: Secret(testing: "new"), at: time(1))
    let former = try #require(store.records.keys.first { $0.byte(at: 0) >= 0x80 })
    let first = try #require(try vault.history(of: bob).former.first?.number)
    // As by a writer that holds the keys and leaves history out.
    try vault.transaction { try $0.edit(former, nil) }
    #expect(try vault.verify().problems.map(\.code) == [.historyMissing])
    #expect(code { _ = try text(bob, first, vault) } == .historyMissing)
    #expect(code { _ = try vault.transaction { try $0.restore(bob, at: time(2)) } } == .historyMissing)
    try vault.update(bob, secret: Secret(testing: "newer"), at: time(3))
    #expect(try vault.remove(bob, at: time(4)))
  }

  @Test func aHiddenVersionIsRefused() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try vault.add(Self.bob, secret: Secret(testing: "old"), at: time(0))
    try vault.update(bob, secret: Secret(testing: "new"), at: time(1))
    let former = try #require(store.records.keys.first { $0.byte(at: 0) >= 0x80 })
    store.records[former] = nil
    let first = try #require(try vault.history(of: bob).former.first?.number)
    #expect(code { _ = try text(bob, first, vault) } == .recordMissing)
    #expect(try vault.verify().problems.map(\.code) == [.recordMissing])
  }
}

/// Counts the rows of `rec` that are looked up.
private final class CountingStore: Store, Rows {
  private let rows: MemoryStore
  var lookUps = 0

  init(_ rows: MemoryStore) { self.rows = rows }

  func read<Result: ~Copyable>(_ body: (any Rows) throws -> Result) throws -> Result { try body(self) }
  func commit(_ prepare: (any Rows) throws -> Change) throws { try rows.commit(prepare) }
  func header(_ key: Int) throws -> [UInt8]? { try rows.header(key) }
  func headerKeys() throws -> [Int64] { try rows.headerKeys() }
  func node(_ prefix: [UInt8]) throws -> [UInt8]? { try rows.node(prefix) }
  func forEachNode(_ body: ([UInt8]) throws -> Void) throws { try rows.forEachNode(body) }

  func record(_ id: Identifier) throws -> RecordHead? {
    lookUps += 1
    return try rows.record(id)
  }

  func secret(_ id: Identifier) throws -> [UInt8]? {
    lookUps += 1
    return try rows.secret(id)
  }

  func forEachRecord(under prefix: [UInt8], _ body: (Identifier?, Result<RecordHead, VaultError>) throws -> Void) throws {
    try rows.forEachRecord(under: prefix, body)
  }
}
