import CofferTesting
import SecretMemory
import Testing
import VaultCore
import VaultUpkeep

@Suite struct AnchorTests {
  /// A vault with `count` commits after its making, each adding an item.
  func grow(_ vault: inout Vault, by count: Int, _ mark: String = "") throws {
    for number in 0..<count {
      try vault.add(Item(service: "s\(mark)", account: "\(number)"), secret: Secret(count: 0), at: .test)
    }
  }

  func reopen(_ store: MemoryStore, _ anchor: MemoryAnchorStore) -> VaultError.Code? {
    code { _ = try Vault.openThrowAway(store, anchor: anchor) }
  }

  @Test func anchorFollowsTheVault() throws {
    let store = MemoryStore()
    let anchor = MemoryAnchorStore()
    var vault = try Vault.throwAway(in: store, anchor: anchor)
    let first = try #require(anchor.bytes)
    try grow(&vault, by: 3)
    try vault.close()
    #expect(anchor.bytes != first)
    #expect(anchor.bytes?.count == 96)
    #expect(reopen(store, anchor) == nil)
  }

  @Test func vaultThatJustGoesSavesItsAnchor() throws {
    let store = MemoryStore()
    let anchor = MemoryAnchorStore()
    do {
      var vault = try Vault.throwAway(in: store, anchor: anchor)
      try grow(&vault, by: 3)
    }
    let past = store.copy()
    do {
      var vault = try Vault.openThrowAway(store, anchor: anchor)
      try grow(&vault, by: 1, "x")
    }
    #expect(reopen(past, anchor) == .rolledBack)
  }

  @Test func theRollbackIsDescribedBeforeItIsAccepted() throws {
    let store = MemoryStore()
    let anchor = MemoryAnchorStore()
    var vault = try Vault.throwAway(in: store, anchor: anchor)
    let backup = store.copy()
    try grow(&vault, by: 2)
    try vault.close()
    let before = anchor.bytes
    var asked = 0
    // The state that is anchored, and one that continues it.
    #expect(try Vault.acceptRollback(store, with: .throwAway(), anchor: anchor, confirm: { _ in asked += 1 }) == nil)
    #expect(asked == 0 && anchor.bytes == before)
    // The confirmation is refused.
    let refusal = code {
      try Vault.acceptRollback(backup, with: .throwAway(), anchor: anchor) { rollback in
        #expect(rollback.reason.code == .rolledBack)
        #expect(rollback.present == 1 && rollback.seen == 3)
        throw VaultError(.notFound)
      }
    }
    #expect(refusal == .notFound && anchor.bytes == before)
    // Another history, another vault, no anchor any more.
    var fork = try Vault.openThrowAway(backup)
    try grow(&fork, by: 2, "x")
    let other = MemoryStore()
    _ = try Vault.throwAway(in: other)
    let damaged = MemoryAnchorStore([1, 2, 3])
    #expect(try Vault.acceptRollback(backup, with: .throwAway(), anchor: anchor)?.reason.code == .forked)
    #expect(try Vault.acceptRollback(other, with: .throwAway(), anchor: anchor)?.reason.code == .anchorOtherVault)
    #expect(try Vault.acceptRollback(other, with: .throwAway(), anchor: damaged)?.seen == nil)
    #expect(reopen(other, anchor) == nil && reopen(other, damaged) == nil)
  }

  @Test func olderFileIsRefusedUntilAccepted() throws {
    let store = MemoryStore()
    let anchor = MemoryAnchorStore()
    var vault = try Vault.throwAway(in: store, anchor: anchor)
    let backup = store.copy()
    try grow(&vault, by: 1)
    try vault.close()
    #expect(reopen(backup, anchor) == .rolledBack)
    try Vault.acceptRollback(backup, with: .throwAway(), anchor: anchor)
    #expect(reopen(backup, anchor) == nil)
    #expect(reopen(store, anchor) == nil, "the newer state continues the accepted one")
  }

  @Test func forkIsRefused() throws {
    let store = MemoryStore()
    let anchor = MemoryAnchorStore()
    var vault = try Vault.throwAway(in: store, anchor: anchor)
    let fork = store.copy()
    try grow(&vault, by: 1, "here")
    try vault.close()
    for length in 1...3 {
      var other = try Vault.openThrowAway(fork)
      try grow(&other, by: 1, "there\(length)")
      // The same generation with another MAC, then a longer history that lacks the anchored state.
      #expect(reopen(fork, anchor) == .forked)
    }
  }

  @Test func anotherVaultWithTheSameCredentialIsRefused() throws {
    let anchor = MemoryAnchorStore()
    try Vault.throwAway(anchor: anchor).close()
    let other = MemoryStore()
    _ = try Vault.throwAway(in: other)
    #expect(reopen(other, anchor) == .anchorOtherVault)
  }

  @Test func damagedAnchorIsRefused() throws {
    let store = MemoryStore()
    let anchor = MemoryAnchorStore()
    try Vault.throwAway(in: store, anchor: anchor).close()
    let bytes = try #require(anchor.bytes)
    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      let refusal = reopen(store, MemoryAnchorStore(flipped))
      #expect(refusal == (bit < 64 ? .anchorDamaged : bit < 192 ? .anchorOtherVault : .anchorOtherKeys))
    }
    #expect(reopen(store, MemoryAnchorStore(Array(bytes.dropLast()))) == .anchorDamaged)
    #expect(reopen(store, MemoryAnchorStore(bytes + [0])) == .anchorDamaged)
  }

  @Test(arguments: [1, 15, 17]) func aNoteOfAnotherLengthIsRefusedUntilAccepted(count: Int) throws {
    let store = MemoryStore()
    let anchor = MemoryAnchorStore()
    try Vault.throwAway(in: store, anchor: anchor).close()
    anchor.note = [UInt8](repeating: 1, count: count)
    #expect(reopen(store, anchor) == .anchorDamaged)
    #expect(try Vault.acceptRollback(store, with: .throwAway(), anchor: anchor)?.reason.code == .anchorDamaged)
    anchor.note = []
    #expect(reopen(store, anchor) == nil)
  }

  @Test func historyReachesSixtyFourGenerationsBack() throws {
    let store = MemoryStore()
    let anchor = MemoryAnchorStore()
    var vault = try Vault.throwAway(in: store, anchor: anchor)
    let first = try #require(anchor.bytes)
    try grow(&vault, by: 64)
    #expect(store.header[9]?.count == 64 * 32)
    var check = try Vault.openThrowAway(store, anchor: MemoryAnchorStore(first)).rollbackCheck
    #expect(check == .passed)
    try grow(&vault, by: 1, "one more")
    #expect(store.header[9]?.count == 64 * 32)
    check = try Vault.openThrowAway(store, anchor: MemoryAnchorStore(first)).rollbackCheck
    #expect(check == .tooFarBehind)
    check = try Vault.openThrowAway(store, anchor: MemoryAnchorStore()).rollbackCheck
    #expect(check == .noAnchor)
  }

  /// A long-running process keeps the newest state in memory, and no store may show it an older or another one.
  @Test func openVaultNoticesForks() throws {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store)
    try grow(&vault, by: 2)
    let past = store.copy()
    try grow(&vault, by: 1, "here")
    // Another process with the past grows further than this one.
    var fork = try Vault.openThrowAway(past)
    try grow(&fork, by: 1, "there")
    (store.header, store.nodes, store.records) = (past.header, past.nodes, past.records)
    #expect(code { _ = try vault.entries() } == .forked)
    #expect(code { _ = try vault.entries() } == .forked, "and goes on refusing it")
    try grow(&fork, by: 2, "further")
    (store.header, store.nodes, store.records) = (past.header, past.nodes, past.records)
    #expect(code { _ = try vault.entries() } == .forked)
    #expect(code { try vault.createGroup(AccessGroup("g"), at: .test) } == .forked)
  }

  @Test func twoProcessesTakeTurns() throws {
    let store = MemoryStore()
    var one = try Vault.throwAway(in: store)
    var two = try Vault.openThrowAway(store)
    let group = try AccessGroup("team")
    try one.createGroup(group, at: .test)
    let first = try two.add(Item(service: "s", account: "1"), secret: Secret(testing: "1"), to: group, at: .test)
    let second = try one.add(Item(service: "s", account: "2"), secret: Secret(testing: "2"), to: group, at: .test)
    #expect(try bytes(of: first, in: one) == Array("1".utf8))
    #expect(try bytes(of: second, in: two) == Array("2".utf8))
  }

  /// An anchor that another process moves on at the worst moment: while somebody opens.
  private final class RacingAnchor: AnchorStore {
    let inner = MemoryAnchorStore()
    var onLoad: (() throws -> Void)?

    func lastVault() throws -> [UInt8]? { try inner.lastVault() }

    func load(_ vault: Identifier) throws -> [UInt8]? {
      let hook = onLoad
      onLoad = nil
      try hook?()
      return try inner.load(vault)
    }

    func update(_ vault: Identifier, isDurable: Bool, _ replacement: ([UInt8]?) throws -> [UInt8]?) throws {
      try inner.update(vault, isDurable: isDurable, replacement)
    }

    func accept(_ vault: Identifier, _ anchor: [UInt8]) throws { try inner.accept(vault, anchor) }
  }

  @Test func aCommitWhileTheVaultIsOpenedIsNoRollback() throws {
    let store = MemoryStore()
    let anchor = RacingAnchor()
    try Vault.throwAway(in: store, anchor: anchor).close()
    anchor.onLoad = {
      var other = try Vault.openThrowAway(store, anchor: anchor)
      try grow(&other, by: 1)
      try other.close()
    }
    #expect(code { _ = try Vault.openThrowAway(store, anchor: anchor) } == nil)
  }

  @Test func anOlderViewDoesNotTurnTheAnchorBack() throws {
    let store = MemoryStore()
    let anchor = MemoryAnchorStore()
    try Vault.throwAway(in: store, anchor: anchor).close()
    var slow = try Vault.openThrowAway(store, anchor: anchor)
    try grow(&slow, by: 1, "slow")
    let past = store.copy()
    var fast = try Vault.openThrowAway(store, anchor: anchor)
    try grow(&fast, by: 3, "fast")
    try fast.close()
    try slow.close()
    #expect(reopen(past, anchor) == .rolledBack)
    #expect(reopen(store, anchor) == nil)
  }

  @Test func aVaultIsMadeAlsoWhereItsAnchorCannotBe() throws {
    final class Full: AnchorStore {
      struct Failed: Error {}
      func lastVault() throws -> [UInt8]? { nil }
      func load(_ vault: Identifier) throws -> [UInt8]? { nil }
      func update(_ vault: Identifier, isDurable: Bool, _ replacement: ([UInt8]?) throws -> [UInt8]?) throws { throw Failed() }
      func accept(_ vault: Identifier, _ anchor: [UInt8]) throws { throw Failed() }
    }
    let store = MemoryStore()
    let vault = try Vault.throwAway(in: store, anchor: Full())
    do {
      try vault.close()
      Issue.record("nobody was told")
    } catch is Full.Failed {}
    _ = try Vault.openThrowAway(store)
  }
}
