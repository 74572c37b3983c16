import CofferTesting
import Testing

@testable import SecretMemory
@testable import VaultCore
@testable import VaultUpkeep

/// Anchors and new master keys.
@Suite struct RenewalAnchorTests {
  private let store = MemoryStore()

  private func made(anchor: (any AnchorStore)? = nil) throws -> Vault {
    var vault = try Vault.throwAway(in: store, anchor: anchor)
    try vault.add(Item(service: "s", account: "0"), secret: Secret(testing: "x"), at: .test)
    var limits = Limits()
    try limits.set(.idleMinutes, to: 3)
    let set = limits
    try vault.transaction { try $0.setLimits(set) }
    return vault
  }

  /// Notes the anchor as it is on the disk when the master key is renewed, which a process may not survive.
  private final class StoppingAnchors: AnchorStore {
    let inner = MemoryAnchorStore()
    private(set) var announced: [UInt8]?

    func lastVault() throws -> [UInt8]? { try inner.lastVault() }
    func load(_ vault: Identifier) throws -> [UInt8]? { try inner.load(vault) }
    func update(_ vault: Identifier, isDurable: Bool, _ replacement: ([UInt8]?) throws -> [UInt8]?) throws {
      try inner.update(vault, isDurable: isDurable, replacement)
      // The renewal that ends writes the anchor of the new state alone.
      if inner.bytes?.count == 192 { announced = inner.bytes }
    }
    func accept(_ vault: Identifier, _ anchor: [UInt8]) throws { try inner.accept(vault, anchor) }
  }

  private func check(_ store: MemoryStore, _ anchors: MemoryAnchorStore) -> (code: VaultError.Code?, check: RollbackCheck?) {
    var check: RollbackCheck?
    let code = code { check = try Vault.openThrowAway(store, anchor: anchors).rollbackCheck }
    return (code, check)
  }

  /// A kill between the anchor and the commit leaves the vault as it was, and one after the commit the new one. Both open, until the new one
  /// was opened.
  @Test func aRenewalThatIsStoppedLocksNobodyOut() throws {
    let anchors = StoppingAnchors()
    var vault = try made(anchor: anchors)
    try vault.transaction { _ = try $0.putLimitsAgain() }
    let before = store.copy()
    try vault.renewMasterKey()
    let killed = MemoryAnchorStore(anchors.announced)
    killed.note = vault.keys.vault.bytes
    #expect(check(before, killed).check == .passed)
    // A process that has the vault open from before saves the state that it has seen meanwhile.
    var other = try Vault.openThrowAway(before, anchor: killed)
    try other.transaction { _ = try $0.putLimitsAgain() }
    try other.close()
    #expect(check(store, killed).check == .passed)
    #expect(check(before, killed).code == .anchorOtherKeys)
    #expect(check(store, killed).check == .passed)
    let usual = anchors.inner
    #expect(check(before, usual).code == .anchorOtherKeys)
    #expect(check(store, usual).check == .passed)
  }

  /// The next renewal follows one that was killed after its commit, before another program has written the anchor, and is killed as well.
  @Test func twoRenewalsThatAreStoppedLockNobodyOut() throws {
    let first = StoppingAnchors()
    var vault = try made(anchor: first)
    try vault.renewMasterKey()
    let second = StoppingAnchors()
    second.inner.bytes = first.announced
    second.inner.note = vault.keys.vault.bytes
    var next = try Vault.openThrowAway(store, anchor: second)
    let before = store.copy()
    try next.renewMasterKey()
    #expect(check(before, MemoryAnchorStore(second.announced)).check == .passed)
    #expect(check(store, MemoryAnchorStore(second.announced)).check == .passed)
  }

  /// The anchor of the new state has to be on the disk first.
  @Test func withoutTheAnchorNoMasterKeyIsRenewed() throws {
    final class Full: AnchorStore {
      struct Failed: Error {}
      func lastVault() throws -> [UInt8]? { nil }
      func load(_ vault: Identifier) throws -> [UInt8]? { nil }
      func update(_ vault: Identifier, isDurable: Bool, _ replacement: ([UInt8]?) throws -> [UInt8]?) throws {
        if isDurable { throw Failed() }
      }
      func accept(_ vault: Identifier, _ anchor: [UInt8]) throws { throw Failed() }
    }
    var vault = try made()
    try vault.close()
    vault = try Vault.openThrowAway(store, anchor: Full())
    let before = store.header
    #expect(throws: Full.Failed.self) { try vault.renewMasterKey() }
    #expect(store.header == before)
  }

  /// Not even one whose history is made to lead to the anchor: the keys of before seal each of its entries.
  @Test(arguments: [1, 63, 64, 65, 80]) func aCopyOfBeforeThatGoesOnIsRefused(count: Int) throws {
    let anchors = MemoryAnchorStore()
    var vault = try made(anchor: anchors)
    try vault.renewMasterKey()
    let stolen = store.copy()
    try vault.renewMasterKey()
    try vault.close()
    var thief = try Vault.openThrowAway(stolen)
    for number in 0..<count {
      if number == count / 2 { try thief.renewMasterKey() }
      try thief.transaction { _ = try $0.putLimitsAgain() }
    }
    #expect(check(stolen, anchors).code == .anchorOtherKeys)
    #expect(check(store, anchors).check == .passed)
  }

  @Test func anAnchorOfAnotherHistoryIsRefusedAfterARenewal() throws {
    let anchors = MemoryAnchorStore()
    var vault = try made(anchor: anchors)
    let fork = store.copy()
    try vault.add(Item(service: "a", account: "a"), secret: Secret(testing: "x"), at: .test)
    try vault.close()
    var other = try Vault.openThrowAway(fork)
    try other.add(Item(service: "b", account: "b"), secret: Secret(testing: "x"), at: .test)
    try other.renewMasterKey()
    #expect(code { _ = try Vault.openThrowAway(fork, anchor: anchors) } == .anchorOtherKeys)
  }

  /// Also if it was continued with the keys of before, until its generation is higher than that of the anchor.
  @Test func aVaultFromBeforeARenewalIsToldApartFromADamagedAnchor() throws {
    let anchors = MemoryAnchorStore()
    var vault = try made(anchor: anchors)
    let before = store.copy()
    try vault.renewMasterKey()
    try vault.close()
    #expect(code { _ = try Vault.openThrowAway(before, anchor: anchors) } == .anchorOtherKeys)
    var continued = try Vault.openThrowAway(before)
    for _ in 0..<8 { try continued.transaction { _ = try $0.putLimitsAgain() } }
    #expect(try continued.status().generation > Vault.openThrowAway(store).status().generation)
    #expect(code { _ = try Vault.openThrowAway(before, anchor: anchors) } == .anchorOtherKeys)
    #expect(try Vault.acceptRollback(before, with: .throwAway(), anchor: anchors)?.reason.code == .anchorOtherKeys)
  }

  /// A person thinks about a rollback, and the master key is renewed meanwhile: the state that was shown is not the one that is here.
  @Test func aRollbackThatWasShownBeforeARenewalIsNotAccepted() throws {
    let anchors = MemoryAnchorStore()
    var vault = try made(anchor: anchors)
    let before = store.copy()
    try vault.transaction { _ = try $0.putLimitsAgain() }
    try vault.close()
    let anchored = anchors.bytes
    let refusal = code {
      try Vault.acceptRollback(before, with: .throwAway(), anchor: anchors) { rollback in
        #expect(rollback.reason.code == .rolledBack)
        var other = try Vault.openThrowAway(before)
        try other.renewMasterKey()
      }
    }
    #expect(refusal == .masterKeyChanged && anchors.bytes == anchored)
  }

  /// It has written before the renewal, and does not know of it when it saves the state that it has seen.
  @Test func aProcessFromBeforeARenewalLeavesTheAnchor() throws {
    let anchors = MemoryAnchorStore()
    try made(anchor: anchors).close()
    var old = try Vault.openThrowAway(store, anchor: anchors)
    _ = try old.transaction { try $0.putLimitsAgain() }
    let before = store.copy()
    var renewing = try Vault.openThrowAway(store, anchor: anchors)
    try renewing.renewMasterKey()
    try renewing.close()
    old.saveAnchor()
    try old.close()
    #expect(code { _ = try Vault.openThrowAway(before, anchor: anchors) } == .anchorOtherKeys)
    let check = try Vault.openThrowAway(store, anchor: anchors).rollbackCheck
    #expect(check == .passed)
  }
}

extension Vault {
  /// The slot that opened it stays.
  mutating func renewMasterKey() throws {
    var renewal = try MasterKeyRenewal(of: status())
    try renewal.seal(openedSlot, under: try .throwAway(), kdf: .floor)
    try renewal.commit(to: &self)
  }
}
