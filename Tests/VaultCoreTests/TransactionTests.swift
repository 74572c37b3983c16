import CofferTesting
import Testing

@testable import SecretMemory
@testable import VaultCore

/// A store that fails, or does something in between, when a test wants it to.
private final class HookedStore: Store, Rows {
  let inner = MemoryStore()
  var failsNodes = false
  var beforeCommit: (() throws -> Void)?

  struct Failed: Error {}

  func read<Result: ~Copyable>(_ body: (any Rows) throws -> Result) throws -> Result { try body(self) }

  func commit(_ prepare: (any Rows) throws -> Change) throws {
    if let hook = beforeCommit {
      beforeCommit = nil
      try hook()
    }
    try inner.commit { _ in try prepare(self) }
  }

  func node(_ prefix: [UInt8]) throws -> [UInt8]? {
    if failsNodes { throw Failed() }
    return try inner.node(prefix)
  }

  func header(_ key: Int) throws -> [UInt8]? { try inner.header(key) }
  func headerKeys() throws -> [Int64] { try inner.headerKeys() }
  func forEachNode(_ body: ([UInt8]) throws -> Void) throws { try inner.forEachNode(body) }
  func record(_ id: Identifier) throws -> RecordHead? { try inner.record(id) }
  func secret(_ id: Identifier) throws -> [UInt8]? { try inner.secret(id) }
  func forEachRecord(
    under prefix: [UInt8], _ body: (Identifier?, Result<RecordHead, VaultError>) throws -> Void
  ) throws {
    try inner.forEachRecord(under: prefix, body)
  }
}

@Suite struct TransactionTests {
  /// Even if the body catches the error, the item must be unchanged.
  @Test func aRefusedMoveLeavesTheItemWhereItIs() throws {
    var vault = try Vault.throwAway()
    let other = try AccessGroup("other")
    try vault.createGroup(other, at: .test)
    let item = Item(service: "s", account: "a")
    let reference = try vault.add(item, secret: Secret(testing: "one"), at: .test)
    try vault.add(item, secret: Secret(testing: "two"), to: other, at: .test)
    try vault.transaction { transaction in
      #expect(throws: VaultError(.duplicate)) { try transaction.move(reference, to: other, at: .test) }
      #expect(throws: VaultError(.groupNotFound)) { try transaction.move(reference, to: AccessGroup("none"), at: .test) }
      try transaction.add(Item(service: "s", account: "b"), secret: Secret(count: 0), at: .test)
    }
    #expect(try bytes(of: reference, in: vault) == Array("one".utf8))
    #expect(try vault.verify().isSound)
  }

  @Test func aRefusedUpdateLeavesTheItemAsItIs() throws {
    var vault = try Vault.throwAway()
    let reference = try vault.add(Item(service: "s", account: "a"), secret: Secret(testing: "one"), at: .test)
    try vault.add(Item(service: "s", account: "b"), secret: Secret(testing: "two"), at: .test)
    try vault.transaction { transaction in
      #expect(throws: VaultError(.duplicate)) { try transaction.update(reference, at: .test) { $0["account"] = "b" } }
      #expect(throws: VaultError(.secretTooLarge)) {
        try transaction.update(reference, secret: Secret(count: (1 << 20) + 1), at: .test)
      }
      try transaction.add(Item(service: "s", account: "c"), secret: Secret(count: 0), at: .test)
    }
    #expect(try bytes(of: reference, in: vault) == Array("one".utf8))
    #expect(try vault.entries().entries.count == 3)
  }

  /// The 257th record makes the tree grow, which reads it as a whole. The leaf is in the tree by then, and the record is not.
  @Test func anEditThatFailedHalfwayIsNeverCommitted() throws {
    let store = HookedStore()
    var vault = try Vault.throwAway(in: store)
    try vault.transaction { transaction in
      for number in 1...255 {
        try transaction.add(Item(service: "s", account: "\(number)"), secret: Secret(count: 0), at: .test)
      }
    }
    let before = store.inner.header
    #expect(throws: HookedStore.Failed.self) {
      try vault.transaction { transaction in
        _ = try transaction.entry(Item(service: "s", account: "1"))
        store.failsNodes = true
        _ = try? transaction.add(Item(service: "s", account: "256"), secret: Secret(count: 0), at: .test)
        store.failsNodes = false
      }
    }
    #expect(store.inner.header == before)
    #expect(try vault.verify().isSound)
  }

  @Test func twoThatAddASlotAtOnceBothGetOne() throws {
    let store = HookedStore()
    var one = try Vault.throwAway(in: store)
    var other = try Vault.openThrowAway(store)
    store.beforeCommit = { try other.addSlot(.keyFile(Secret(count: 40))) }
    #expect(try one.addSlot(.keyFile(Secret(count: 50))).index == 3)
    #expect(try one.status().slots.map(\.index) == [1, 2, 3])
    _ = try Vault.open(store, with: .keyFile(Secret(count: 50)))
  }

  @Test func attributesThatGrowTooLargeByTheTimesAreRefusedAsAttributes() throws {
    var vault = try Vault.throwAway()
    var item = Item(service: "s", account: "a")
    var number = 0
    while item.encoded.count < Padding.maximumCount - 65_600 {
      item["user.\(1000 + number)"] = String(repeating: "x", count: 65_536)
      number += 1
    }
    item["user.last"] = String(repeating: "x", count: Padding.maximumCount - item.encoded.count - 16)
    #expect(item.encoded.count == Padding.maximumCount)
    #expect(code { try vault.add(item, secret: Secret(count: 0), at: .test) } == .attributeNotAllowed)
  }

  // MARK: Vaults of a genuine but careless writer

  private func reseal(_ store: MemoryStore, _ edit: (inout Header) -> Void) throws {
    let unlocked = try Vault.unlock(store, with: .throwAway(), ceiling: .standard)
    let keys = try IntegrityKeys(master: unlocked.master, vault: unlocked.vault)
    var header = try SealedHeader(parsing: #require(store.header[0])).header
    edit(&header)
    let rows = try SlotRows(reading: store)
    header.slotsDigest = keys.slotsDigest(rows)
    header.previousMAC = rows.history.last ?? .zero
    store.header[0] = header.sealed(with: keys).bytes
  }

  @Test func afterTheLastGenerationNothingIsWritten() throws {
    let store = MemoryStore()
    _ = try Vault.throwAway(in: store)
    store.header[9] = Array(repeating: 7, count: 64 * 32)
    try reseal(store) { $0.generation = .max }
    let anchor = MemoryAnchorStore()
    var vault = try Vault.openThrowAway(store, anchor: anchor)
    #expect(code { try vault.createGroup(AccessGroup("g"), at: .test) } == .vaultFull)
    try vault.close()
    _ = try Vault.openThrowAway(store, anchor: anchor)
  }

  @Test func aCountThatIsTooSmallIsAnErrorNotATrap() throws {
    let store = MemoryStore()
    do {
      var vault = try Vault.throwAway(in: store)
      try vault.add(Item(service: "s", account: "a"), secret: Secret(count: 0), at: .test)
    }
    try reseal(store) { $0.recordCount = 0 }
    var vault = try Vault.openThrowAway(store)
    let found = try #require(try vault.entry(Item(service: "s", account: "a")))
    #expect(code { try vault.remove(found.reference) } == .countMismatch)
  }
}
