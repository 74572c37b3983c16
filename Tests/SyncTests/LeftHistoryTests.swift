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
}
