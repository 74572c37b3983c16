import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import CofferSync
@testable import SyncSimulation

/// The changes of a history that a device leaves for another one. Section 3.3 of docs/sync-format.md.
@Suite struct LeftHistoryTests {
  /// The history is the same, so nothing is sent again that was replaced, or deleted, long ago.
  @Test func anAcceptedHistoryBringsNothingBack() throws {
    var space = try Space()
    let keys = try (0..<2).map { try Space.write("user\($0)", "old", in: &space.owner) }
    try space.synchronise(&space.owner)
    try Space.change(keys[0], "new", at: 2, in: &space.owner)
    try space.owner.delete([keys[1]], ofGroupWith: 2, at: 2)
    try space.synchronise(&space.owner)
    for _ in 0..<4 { #expect(try space.appendCheckpoint()) }
    let next = try space.owner.acceptingHistory(of: space.engine)
    #expect(next.pending.isEmpty)
    #expect(try Space.secrets(keys[0], in: next) == ["new"] && Space.secrets(keys[1], in: next) == nil)
  }

  /// Its key is that of an epoch that the others never had.
  @Test func aLargeValueOfALeftHistoryIsSealedAgain() throws {
    var space = try Space()
    var other = try space.join(1, .owner)
    let third = try space.join(2, .member)
    try space.synchronise(&other)
    let fork = FaultyEngine(SeededGenerator(seed: 2))
    for (number, entry) in space.engine.logs[0].enumerated() { _ = try fork.append(UInt64(number), entry) }
    // Each history has an epoch 1 of its own.
    other.remove([third.id])
    try other.synchronise(with: fork) { _ in }
    let large = String(repeating: "x", count: Value.maximumInlineCount + 1)
    let key = try Space.write("large", large, in: &other)
    try Space.change(key, large + "y", in: &other)
    try other.synchronise(with: fork) { _ in }
    space.owner.remove([third.id])
    try space.synchronise(&space.owner)
    for (name, object) in fork.objects { try space.engine.put(name, object) }
    #expect(throws: Halt.replaced) { try space.synchronise(&other) }
    other = try other.acceptingHistory(of: space.engine)
    try space.synchronise(&other)
    try space.synchronise(&space.owner)
    let late = try space.join(3, .member)
    for replica in [space.owner, late] {
      let values = replica.shown(key)?[.secret].map(\.value) ?? []
      #expect(values.count == 1)
      let value = try #require(values.first)
      #expect(try replica.content(of: value) { try space.engine.get($0) }.count == large.utf8.count + 1)
    }
  }

  /// They are older than the entries that are kept: both registers of a setting come in one operation, by which it is shown.
  @Test func oldValuesAreSentAgainWhole() throws {
    var space = try Space()
    var other = try space.join(1, .owner)
    let start = Int(space.owner.count)
    let setting = try SettingContent(store: "store", key: "k", value: [1, 2, 3])
    try space.owner.write(setting, at: 1)
    let key = try Space.write("user", "x", in: &space.owner)
    try space.synchronise(&space.owner)
    for _ in 0..<3 { #expect(try space.appendCheckpoint()) }
    space.engine.cut(to: start)
    try Space.write("other", "y", in: &other)
    try space.synchronise(&other)
    #expect(throws: Halt.replaced) { try space.synchronise(&space.owner) }
    space.owner = try space.owner.acceptingHistory(of: space.engine)
    try space.synchronise(&space.owner)
    try space.synchronise(&other)
    for replica in [space.owner, other] {
      #expect(replica.state[EntityKey(.setting, setting.name.tag)]?.setting?.value == .clear(setting.bytes))
      #expect(try Space.secrets(key, in: replica) == ["x"] && replica.state[key]?.exists == true)
      #expect(replica.state.quota.used(by: "store").keys == 1)
    }
  }

  /// The engine was put back, and the entries between were deleted when the device comes back: the checkpoint shows what it lacks.
  @Test(arguments: [false, true]) func aCheckpointShowsThatItLacksAnEntry(hasFormer: Bool) throws {
    var space = try Space()
    var away = try space.join(1, .member)
    if hasFormer { try Space.write("former", "x", in: &away) }
    try space.synchronise(&away)
    try space.synchronise(&space.owner)
    let (start, former) = (Int(space.owner.count), away)
    let key = try Space.write("user", "x", in: &away)
    try space.synchronise(&away)
    space.engine.cut(to: start)
    try space.passMonth()
    #expect(throws: Halt.replaced) { try space.synchronise(&away) }
    #expect(away.halt == .replaced)
    away = try away.acceptingHistory(of: space.engine)
    try space.synchronise(&away)
    try space.synchronise(&space.owner)
    for replica in [away, space.owner] { #expect(try Space.secrets(key, in: replica) == ["x"]) }
    // One whose home was restored does not know of its own last entries.
    var restored = former
    try space.passMonth()
    try space.synchronise(&restored)
    #expect(try restored.halt == nil && Space.secrets(key, in: restored) == ["x"])
  }

  @Test func aLastEntryIsContinuedByItselfOrALaterOne() throws {
    let (chain, other) = (Digest.zero, ObjectName(of: [1]).digest)
    let last = LastEntry(number: 7, chain: chain)
    #expect(last.isContinued(by: last) && last.isContinued(by: LastEntry(number: 8, chain: other)))
    for next in [nil, LastEntry(number: 6, chain: chain), LastEntry(number: 7, chain: other)] {
      #expect(!last.isContinued(by: next))
    }
  }

  /// An owner cannot hide an entry from those that have read all.
  @Test func falseLastEntriesAreAFalseCheckpoint() throws {
    var space = try Space()
    var other = try space.join(1, .member)
    try space.synchronise(&other)
    let owner = space.owner
    let key = try #require(owner.keys[0])
    space.owner.lastEntries[owner.id] = LastEntry(number: 0, chain: owner.chain)
    let checkpoint = CheckpointPayload(
      linkNumber: owner.membership.linkNumber, state: try owner.state.digest(owner.values), lastEntries: space.owner.lastEntries,
      objects: [])
    let entry = try owner.seal(.checkpoint(checkpoint), clear: [], key: key)
    #expect(throws: Halt.checkpointFalse) { try other.fold(entry) }
    #expect(try other.fold(entry, isAccepted: true) == .tag)
  }
}
