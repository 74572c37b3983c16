import CofferTesting
import SecretMemory
import Testing

@testable import VaultCore
@testable import VaultUpkeep

/// Former versions: each that stays has one owner, and each list names those that are there.
extension RepairRowTests {
  private func version(_ index: Int, of reference: Reference, in vault: borrowing Vault) throws -> Identifier {
    let version = try vault.history(of: reference).former[index]
    return try vault.reading { state, keyring in
      try keyring.existing(reference.group, in: state).historyID(version.origin, version.number)
    }
  }

  private func damageTheIndex() { for prefix in store.nodes.keys { store.nodes[prefix] = [1] } }

  /// As many former versions as a vault can keep.
  private func keepAll(_ vault: inout Vault) throws {
    var limits = Limits()
    try limits.set(.historyVersions, to: UInt64(FormerVersion.maximumCount))
    let set = limits
    try vault.transaction { try $0.setLimits(set) }
  }

  /// The damaged node is that which proves the group of the item, and the item is written anew, because its list is.
  @Test func anItemBelowADamagedNodeLosesAVersion() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try set(Self.bob, ["1", "2", "3"], &vault)
    try spoil(version(1, of: bob, in: vault))
    damageTheIndex()
    vault = try Vault.openThrowAway(store)
    #expect(try repair(&vault, accepts: true).count(.lost) == 1)
    #expect(try value(Self.bob, vault) == "3" && vault.history(of: bob).former.count == 1)
  }

  @Test func aRemovedItemLosesAVersion() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try set(Self.bob, ["1", "2", "3"], &vault)
    let lost = try version(1, of: bob, in: vault)
    try vault.remove(bob, at: .test)
    try spoil(lost)
    #expect(try repair(&vault).historyFaultCount == 1)
    #expect(try vault.history(of: bob).removed != nil && vault.history(of: bob).former.count == 1)
  }

  /// The item was moved, another one was made where it was, and then it was lost: its version stays in the group to which it was moved, and
  /// the other item gets nothing of it, also by the next repair.
  @Test func aVersionStaysInItsGroup() throws {
    let team = AccessGroup(unchecked: "team")
    var vault = try Vault.throwAway(in: store)
    try vault.createGroup(team, at: .test)
    let first = try set(Self.bob, ["1", "2"], &vault)
    let moved = try vault.move(first, to: team, at: .test)
    let second = try set(Self.bob, ["other"], &vault)
    #expect(second == first)
    try spoil(moved.id)
    for _ in 0..<2 {
      try repair(&vault)
      #expect(try value(Self.bob, vault) == "other" && vault.history(of: second).former == [])
      let removed = try vault.removedItems()
      #expect(removed.count == 1 && removed.allSatisfy { $0.entry.reference.group == team })
    }
  }

  /// It was removed, and is made anew. Its removal comes from the backup, and names a version that is in neither of the two.
  @Test func aRemovalFromABackupNamesWhatIsThere() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try set(Self.bob, ["1", "2", "3"], &vault)
    let lost = try version(1, of: bob, in: vault)
    try vault.remove(bob, at: .test)
    let backup = store.copy()
    _ = try set(Self.bob, ["4"], &vault)
    let former = try vault.history(of: bob).former
    for store in [store, backup] { try spoil(lost, in: store) }
    damageTheIndex()
    vault = try Vault.openThrowAway(store)
    // The value at the removal is a version of the item, and not one more record.
    #expect(try repair(&vault, from: backup, accepts: true, isCounted: false).count(.lost) == 1)
    #expect(try value(Self.bob, vault) == "4" && vault.history(of: bob).former == Array(former.dropLast()))
  }

  /// The row of the item is an earlier one that was put back: its value is a former version as well.
  @Test func aValueIsNotAFormerVersionOfItself() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try set(Self.bob, ["1"], &vault)
    let row = store.records[bob.id]
    try vault.update(bob, secret: Secret(testing: "2"), at: .test)
    store.records[bob.id] = row
    damageTheIndex()
    vault = try Vault.openThrowAway(store)
    try repair(&vault, accepts: true, isCounted: false)
    #expect(try value(Self.bob, vault) == "1" && vault.history(of: bob).former == [])
  }

  /// The backup has other versions than the vault, and together these are more than a list can name: the newest stay. The item is there, or
  /// was removed, or is lost.
  @Test(arguments: ["there", "made anew", "removed", "lost"]) func theNewestVersionsStay(state: String) throws {
    var vault = try Vault.throwAway(in: store)
    try keepAll(&vault)
    let bob = try set(Self.bob, (0..<70).map { "\($0)" }, &vault)
    if state == "made anew" { try vault.remove(bob, at: .test) }
    let backup = store.copy()
    if state == "made anew" { _ = try set(Self.bob, ["made anew"], &vault) }
    for number in 0..<70 { try vault.update(bob, secret: Secret(testing: "new \(number)"), at: .test) }
    let former = try vault.history(of: bob).former
    if state == "removed" { try vault.remove(bob, at: .test) }
    if state == "lost" { for store in [store, backup] { try spoil(bob.id, in: store) } }
    damageTheIndex()
    vault = try Vault.openThrowAway(store)
    try repair(&vault, from: backup, accepts: true, isCounted: false)
    let history = try vault.history(of: bob)
    #expect(history.former.prefix(60) == (state == "lost" ? former.dropFirst() : former[...]).prefix(60))
    let value = try vault.secret(of: bob, version: history.entry.version).copyIntoUnprotectedBytes()
    #expect(value == Array((state == "lost" ? "new 68" : "new 69").utf8))
  }

  /// The backup has a version of an item that has grown since, and whose attributes leave no room for its name.
  @Test func anItemWithoutRoomForAVersionStays() throws {
    var vault = try Vault.throwAway(in: store)
    let bob = try set(Self.bob, ["1", "2"], &vault)
    let backup = store.copy()
    try vault.update(bob, secret: Secret(testing: "3"), at: .test) { item in
      for number in 0..<15 { item["user.\(number)"] = String(repeating: "x", count: 65_536) }
      item["user.last"] = String(repeating: "x", count: Padding.maximumCount - item.encoded.count - 16)
      #expect(item.encoded.count == Padding.maximumCount)
    }
    #expect(try vault.history(of: bob).former == [])
    damageTheIndex()
    vault = try Vault.openThrowAway(store)
    try repair(&vault, from: backup, accepts: true, isCounted: false)
    #expect(try value(Self.bob, vault) == "3" && vault.history(of: bob).former == [])
  }
}
