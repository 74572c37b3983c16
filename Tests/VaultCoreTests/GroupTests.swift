import AccessRights
import CofferTesting
import SecretMemory
import Testing
import VaultCore
import VaultUpkeep

/// Groups are renamed and removed.
@Suite struct GroupTests {
  private let work = AccessGroup(unchecked: "work")
  private let play = AccessGroup(unchecked: "play")

  /// Two items in `work`, one in `play`, a grant to each.
  private func scene(_ store: MemoryStore) throws -> Vault {
    var vault = try Vault.throwAway(in: store)
    try vault.transaction { transaction in
      for group in [work, play] {
        try transaction.createGroup(group, at: .test)
        try transaction.put(Grant(to: "unit:a.service", group, [.read], asksForConfirmation: false, at: .test))
      }
      try transaction.add(Item(service: "s", account: "1"), secret: Secret(testing: "one"), to: work, at: .test)
      try transaction.add(
        Item(service: "s", account: "2"), secret: Secret(testing: "two"), to: work, accessible: .afterFirstUnlock, at: .test)
      try transaction.add(Item(service: "s", account: "1"), secret: Secret(testing: "other"), to: play, at: .test)
    }
    return vault
  }

  private func text(_ account: String, in group: AccessGroup, of vault: borrowing Vault) throws -> String? {
    guard let found = try vault.entryWithSecret(Item(service: "s", account: account), in: group) else { return nil }
    return String(decoding: found.secret.copyIntoUnprotectedBytes(), as: UTF8.self)
  }

  @Test func contentsAreCounted() throws {
    let vault = try scene(MemoryStore())
    let contents = try vault.groupContents()
    #expect(contents.map(\.group) == [.standard, play, work])
    #expect(contents.map(\.itemCount) == [0, 1, 2])
    #expect(contents[2].itemCounts == [.whenUnlocked: 1, .afterFirstUnlock: 1])
    #expect(contents.map(\.grantees) == [[], ["unit:a.service"], ["unit:a.service"]])
  }

  /// Another process that has the vault open looks the group up by its old name.
  @Test func aRenamedGroupKeepsItemsAndGrants() throws {
    let store = MemoryStore()
    var vault = try scene(store)
    let other = try Vault.openThrowAway(store)
    let new = try AccessGroup("job")
    let reference = try #require(try other.entry(Item(service: "s", account: "1"), in: work)).reference
    try vault.renameGroup(work, to: new)
    let opened = try Vault.openThrowAway(store)
    #expect(try text("1", in: new, of: opened) == "one" && text("2", in: new, of: opened) == "two")
    #expect(try opened.entry(Reference(group: new, id: reference.id)).generation == 2)
    #expect(try opened.verify().isSound)
    #expect(code { _ = try other.entry(reference) } == .groupNotFound)
    #expect(try text("1", in: new, of: other) == "one")
    #expect(code { _ = try vault.entry(reference) } == .groupNotFound)
    #expect(try vault.grants(to: "unit:a.service").map(\.group) == [new, play])
    // The name is free again, and the keys of its next group are others.
    try vault.createGroup(work, at: .test)
    #expect(try vault.entry(Item(service: "s", account: "1"), in: work) == nil)
  }

  @Test func namesThatCannotBeGivenAreRefused() throws {
    var vault = try scene(MemoryStore())
    let none = try AccessGroup("none")
    #expect(code { try vault.renameGroup(work, to: play) } == .groupExists)
    #expect(code { try vault.renameGroup(work, to: work) } == .groupExists)
    #expect(code { try vault.renameGroup(work, to: .standard) } == .groupExists)
    #expect(code { try vault.renameGroup(none, to: AccessGroup("x")) } == .groupNotFound)
    #expect(code { try vault.renameGroup(.standard, to: AccessGroup("x")) } == .groupRequired)
    #expect(code { try vault.removeGroup(.standard, withItems: true) } == .groupRequired)
    #expect(code { try vault.removeGroup(none, withItems: true) } == .groupNotFound)
    #expect(try vault.generation() == 2)
  }

  @Test func aGroupGoesWithItsItemsOnlyOnRequest() throws {
    let store = MemoryStore()
    var vault = try scene(store)
    #expect(code { try vault.removeGroup(work, withItems: false) } == .groupNotEmpty)
    try vault.removeGroup(work, withItems: true)
    #expect(try vault.groups() == [.standard, play])
    #expect(try vault.grants().map(\.group) == [play])
    #expect(try text("1", in: play, of: vault) == "other")
    let found = try Vault.openThrowAway(store).verify()
    #expect(found.isSound && found.recordCount == 4)
    let last = try #require(try vault.entry(Item(service: "s", account: "1"), in: play))
    try vault.remove(last.reference)
    #expect(code { try vault.removeGroup(play, withItems: false) } == .groupGranted)
    try vault.transaction { try $0.removeGrant(to: "unit:a.service", play) }
    try vault.removeGroup(play, withItems: false)
    #expect(try vault.groups() == [.standard] && vault.verify().isSound)
  }

  /// The owner has agreed to what was shown.
  @Test func nothingIsRemovedThatIsNewerThanWhatWasSeen() throws {
    let store = MemoryStore()
    var vault = try scene(store)
    func seen() throws -> UInt64 { try #require(vault.groupContents().first { $0.group == work }).generation }
    var last = try seen()
    try vault.add(Item(service: "s", account: "3"), secret: Secret(testing: "three"), to: work, at: .test)
    #expect(code { try vault.removeGroup(work, withItems: true, asOf: last) } == .groupChanged)
    #expect(try text("3", in: work, of: vault) == "three")
    last = try seen()
    let first = try #require(try vault.entry(Item(service: "s", account: "1"), in: work)).reference
    try vault.update(first, secret: Secret(testing: "new"), at: .test)
    #expect(code { try vault.removeGroup(work, withItems: true, asOf: last) } == .groupChanged)
    last = try seen()
    try vault.transaction { try $0.put(Grant(to: "unit:b.service", work, [.read], asksForConfirmation: false, at: .test)) }
    #expect(code { try vault.removeGroup(work, withItems: true, asOf: last) } == .groupChanged)
    last = try seen()
    // A change of another group does not matter.
    try vault.add(Item(service: "s", account: "3"), secret: Secret(testing: "x"), to: play, at: .test)
    try vault.removeGroup(work, withItems: true, asOf: last)
    #expect(try vault.groups() == [.standard, play] && vault.verify().isSound)
    // An empty group of the same name is another one, also if none was there to be seen.
    try vault.createGroup(work, at: .test)
    for seen in [0, last] { #expect(code { try vault.removeGroup(work, withItems: true, asOf: seen) } == .groupChanged) }
    last = try seen()
    try vault.removeGroup(work, withItems: true, asOf: last)
    #expect(try vault.groups() == [.standard, play])
  }

  /// It could be of the group, and would be left without keys.
  @Test func aDamagedItemStopsTheRemoval() throws {
    let store = MemoryStore()
    var vault = try scene(store)
    let id = try #require(try vault.entry(Item(service: "s", account: "1"), in: work)).reference.id
    let row = try #require(store.records[id])
    let head = row.head
    store.records[id] = SealedRecord(
      id: id, group: head.group, meta: [1, 3] + head.meta.dropFirst(2), attributes: head.attributes, secret: row.secret)
    #expect(code { try vault.removeGroup(work, withItems: true) } == .recordForged)
    #expect(code { _ = try vault.groupContents() } == .recordForged)
    store.records[id] = nil
    #expect(code { try vault.removeGroup(play, withItems: true) } == .recordMissing)
    #expect(try vault.groups() == [.standard, play, work])
  }

  @Test func aLockedVaultChangesNoGroup() throws {
    var vault = try scene(MemoryStore())
    vault.lock()
    #expect(code { try vault.renameGroup(work, to: AccessGroup("x")) } == .locked)
    #expect(code { try vault.removeGroup(work, withItems: true) } == .locked)
    #expect(code { _ = try vault.groupContents() } == .locked)
  }

  /// Each class has a key of its own, so a new class is a new seal.
  @Test func anItemIsSealedAnewInAnotherClass() throws {
    let store = MemoryStore()
    var vault = try scene(store)
    let before = try #require(try vault.entry(Item(service: "s", account: "1"), in: work))
    let row = try #require(store.records[before.reference.id])
    let after = try vault.update(before.reference, accessible: .afterFirstUnlock, at: .test) { _ in }
    #expect(after == before.reference)
    #expect(try vault.entry(after).accessibility == .afterFirstUnlock && text("1", in: work, of: vault) == "one")
    #expect(try #require(store.records[after.id]) != row)
    #expect(code { try vault.update(after, accessible: .whenUnlockedThisDevice, at: .test) { _ in } } == .deviceKeyMissing)
    vault.lock()
    #expect(try text("1", in: work, of: vault) == "one")
    #expect(code { try vault.update(after, accessible: .whenUnlocked, at: .test) { _ in } } == .locked)
  }
}
