import CofferTesting
import Testing

@testable import SecretMemory
@testable import VaultCore
@testable import VaultUpkeep

/// A file that is put back while a process has the vault open: that process has seen nothing newer, and others have.
@Suite final class OpenVaultAnchorTests {
  private let store = MemoryStore()
  private let anchors = MemoryAnchorStore()
  private let before: MemoryStore
  /// Open from before.
  private var open: Vault

  init() throws {
    var vault = try Vault.throwAway(in: store, anchor: anchors)
    try vault.add(Item(service: "s", account: "0"), secret: Secret(testing: "x"), at: .test)
    try vault.close()
    before = store.copy()
    open = try Vault.openThrowAway(store, anchor: anchors)
  }

  private func putBack(_ rows: MemoryStore) {
    (store.header, store.nodes, store.records) = (rows.header, rows.nodes, rows.records)
  }

  private func change(_ body: (inout Vault) throws -> Void) throws {
    var other = try Vault.openThrowAway(store, anchor: anchors)
    try body(&other)
    try other.close()
  }

  private func add() -> VaultError.Code? {
    code { try open.add(Item(service: "new", account: "0"), secret: Secret(testing: "x"), at: .test) }
  }

  /// A thief may have the keys of before: nothing is sealed under them after a renewal.
  @Test func afterARenewalItWritesNothingAndForgetsItsKeys() throws {
    try change { try $0.renewMasterKey() }
    putBack(before)
    let anchor = anchors.bytes
    #expect(add() == .anchorOtherKeys)
    let isLocked = open.isLocked
    #expect(store.header == before.header && anchors.bytes == anchor && isLocked)
    open.saveAnchor()
    #expect(anchors.bytes == anchor)
  }

  @Test func aLookForgetsTheKeysAsWell() throws {
    try change { try $0.renewMasterKey() }
    putBack(before)
    #expect(code { _ = try open.generation() } == .anchorOtherKeys)
    let isLocked = open.isLocked
    #expect(isLocked)
  }

  @Test func anOlderStateIsNotContinued() throws {
    try change { try $0.add(Item(service: "s", account: "1"), secret: Secret(testing: "x"), at: .test) }
    putBack(before)
    #expect(add() == .rolledBack)
    #expect(code { _ = try open.generation() } == .rolledBack)
    let isLocked = open.isLocked
    #expect(store.header == before.header && !isLocked)
    // Nor are its keys renewed, whose anchor would take the place of the newer one.
    let anchor = anchors.bytes
    #expect(code { try open.renewMasterKey() } == .rolledBack)
    #expect(anchors.bytes == anchor)
  }

  /// The fork is as long as the history that was seen, or longer.
  @Test(arguments: [1, 2]) func anotherHistoryIsNotContinued(count: Int) throws {
    try change { try $0.add(Item(service: "s", account: "1"), secret: Secret(testing: "x"), at: .test) }
    putBack(before)
    var thief = try Vault.openThrowAway(store)
    for number in 0..<count {
      try thief.add(Item(service: "t", account: "\(number)"), secret: Secret(testing: "x"), at: .test)
    }
    #expect(add() == .forked)
    #expect(code { _ = try open.generation() } == .forked)
  }

  /// Several processes write in turn, and each saves the anchor now and then.
  @Test func aStateThatOthersHaveContinuedIsTheirs() throws {
    for number in 0..<40 {
      try change { try $0.add(Item(service: "o", account: "\(number)"), secret: Secret(testing: "x"), at: .test) }
      try open.add(Item(service: "p", account: "\(number)"), secret: Secret(testing: "x"), at: .test)
      let generation = try open.generation()
      #expect(generation == UInt64(2 * number) + 4)
    }
    anchors.bytes = [1]
    #expect(add() == .anchorDamaged)
  }
}
