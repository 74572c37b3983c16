import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import CofferSync
@testable import SyncSimulation

/// Registers keep what each author saw. Sections 5.3 to 6 of docs/sync-format.md.
@Suite struct ChangeTests {
  /// The longest value, with its padding, box and epoch.
  @Test func theLimitOfObjectsIsThatOfTheLongestValue() throws {
    let sealer = ObjectSealer(space: .zero, keys: [0: LockedBytes(try Secret(testing: [UInt8](repeating: 1, count: 32)))])
    let object = try sealer.seal(Secret(testing: [UInt8](repeating: 2, count: Padding.maximumCount)), epoch: 0)
    #expect(object.count == ObjectSealer.maximumByteCount)
  }

  @Test func valuesThatWereWrittenApartAreBothKept() throws {
    var space = try Space()
    var other = try space.join(1, .member)
    let key = try Space.write("bob", "first", in: &space.owner)
    try space.synchronise(&space.owner)
    try space.synchronise(&other)
    // The clock of one is twenty years off: it decides which is shown, and nothing else.
    try Space.change(key, "late", at: 631_152_000_000, in: &space.owner)
    try Space.change(key, "early", at: -631_152_000_000, in: &other)
    for _ in 0..<2 {
      try space.synchronise(&space.owner)
      try space.synchronise(&other)
    }
    #expect(try Space.secrets(key, in: other) == ["late", "early"])
    #expect(try Space.secrets(key, in: space.owner) == ["late", "early"])
    #expect(other.shown(key)?.conflicts(.secret).count == 1)
    // A change by a person who sees both replaces both, by whatever clock.
    try Space.change(key, "both", at: -1, in: &other)
    try space.synchronise(&other)
    try space.synchronise(&space.owner)
    #expect(try Space.secrets(key, in: space.owner) == ["both"])
  }

  @Test func anEditBeatsADeletionThatDidNotKnowIt() throws {
    var space = try Space()
    var other = try space.join(1, .member)
    let key = try Space.write("bob", "first", in: &space.owner)
    try space.synchronise(&space.owner)
    try space.synchronise(&other)
    try space.owner.delete([key], ofGroupWith: 1, at: 5)
    try Space.change(key, "edited", at: 2, in: &other)
    try space.synchronise(&space.owner)
    #expect(try Space.secrets(key, in: space.owner) == nil)
    try space.synchronise(&other)
    try space.synchronise(&space.owner)
    #expect(try Space.secrets(key, in: space.owner) == ["edited"])
    // One that knows it deletes it.
    try space.owner.delete([key], ofGroupWith: 1, at: 1)
    try space.synchronise(&space.owner)
    try space.synchronise(&other)
    #expect(try Space.secrets(key, in: other) == nil)
  }

  /// A local change is fixed when it is made: what is folded between it and its entry is not replaced by it.
  @Test func aChangeReplacesNothingThatItsAuthorDidNotSee() throws {
    var space = try Space()
    var other = try space.join(1, .member)
    let key = try Space.write("bob", "first", in: &space.owner)
    try space.synchronise(&space.owner)
    try space.synchronise(&other)
    try Space.change(key, "here", at: 9, in: &other)
    let fixed = other.pending.map(\.operation)
    try Space.change(key, "there", at: 8, in: &space.owner)
    try space.synchronise(&space.owner)
    // Reads the other change first, and appends its own as it was.
    try space.synchronise(&other)
    #expect(try other.keptOperations().suffix(1) == fixed[...])
    #expect(try Space.secrets(key, in: other) == ["here", "there"])
    #expect(other.pending.isEmpty)
  }

  @Test func equalValuesAreOneAndPartsMergeApart() throws {
    var space = try Space()
    var other = try space.join(1, .member)
    let key = try Space.write("bob", "first", in: &space.owner)
    try space.synchronise(&space.owner)
    try space.synchronise(&other)
    try Space.change(key, "same", in: &space.owner)
    try Space.change(key, "same", at: 2, in: &other)
    let labelled = try Space.content("bob", label: "label")
    try space.owner.write(key.tag, content: labelled, secret: nil, at: 3)
    for _ in 0..<2 {
      try space.synchronise(&space.owner)
      try space.synchronise(&other)
    }
    #expect(other.shown(key)?.conflicts(.secret).isEmpty == true && other.shown(key)?[.secret].count == 2)
    #expect(other.shown(key)?.shown(.content) == .clear(labelled.bytes))
  }

  @Test func manyDeletionsAtOnceWaitForAPerson() throws {
    var space = try Space()
    let keys = try (0..<60).map { try Space.write("user\($0)", "x", in: &space.owner) }
    try space.synchronise(&space.owner)
    for (deleted, count, isAppended) in [(50, 60, true), (51, 255, true), (51, 254, false)] {
      space.owner.pending = []
      let result = try space.owner.delete(Array(keys[..<deleted]), ofGroupWith: count, at: 2)
      #expect(result == isAppended)
    }
    let count = space.owner.count
    try space.synchronise(&space.owner)
    #expect(space.owner.count == count && space.owner.pending.count == 51 && !space.owner.hasMore)
    #expect(try Space.secrets(keys[0], in: space.owner) == nil)
    var other = space.owner
    other.discardDeletions()
    #expect(try Space.secrets(keys[0], in: other) == ["x"])
    space.owner.acceptDeletions()
    try space.synchronise(&space.owner)
    #expect(space.owner.count == count + 1 && space.owner.state[keys[50]]?.exists == false)
    #expect(space.owner.state[keys[51]]?.exists == true)
  }

  @Test func theQuotaOfAStoreRefusesForAllWhereItStands() throws {
    var space = try Space()
    var other = try space.join(1, .member)
    func write(_ numbers: Range<Int>, _ replica: inout Replica) throws {
      for number in numbers { try replica.write(SettingContent(store: "store", key: "k\(number)", value: [1]), at: 1) }
    }
    // 600 keys on each of two devices.
    try write(0..<600, &space.owner)
    try write(600..<1200, &other)
    for _ in 0..<3 {
      try space.synchronise(&space.owner)
      try space.synchronise(&other)
    }
    #expect(other.refused.count == 176 && space.owner.refused.isEmpty && other.pending.isEmpty)
    #expect(space.owner.state.quota.used(by: "store").keys == 1024)
    #expect(try other.state.digest(other.values) == space.owner.state.digest(space.owner.values))
    // A deletion makes room for one, and a value that fills the store is refused.
    try space.owner.delete([EntityKey(.setting, SettingName(store: "store", key: "k0").tag)], ofGroupWith: 1024, at: 2)
    try space.owner.write(SettingContent(store: "store", key: "new", value: [1]), at: 3)
    for number in 1...17 {
      try space.owner.write(SettingContent(store: "store", key: "k\(number)", value: [UInt8](repeating: 1, count: 62_000)), at: 3)
    }
    try space.synchronise(&space.owner)
    #expect(space.owner.refused.count == 1 && space.owner.state.quota.used(by: "store").keys == 1024)
    // Another store has its own, up to the last byte. Keys do not count.
    for key in "abcdefghijklmnop" {
      let value = [UInt8](repeating: 1, count: Value.maximumInlineCount)
      try space.owner.write(SettingContent(store: "full", key: "\(key)", value: value), at: 1)
    }
    try space.synchronise(&space.owner)
    #expect(space.owner.refused.count == 1 && space.owner.state.quota.used(by: "full").bytes == SettingsQuota.maximumByteCount)
    try space.owner.write(SettingContent(store: "full", key: "q", value: [1]), at: 1)
    try space.synchronise(&space.owner)
    #expect(space.owner.refused.count == 2)
    try space.synchronise(&other)
    #expect(try other.state.digest(other.values) == space.owner.state.digest(space.owner.values))
  }

  /// Its author had seen a later value, and the other write, of which it did not know, keeps the setting.
  @Test func aDeletedValueOfASettingIsNotShownAgain() throws {
    var space = try Space()
    var other = try space.join(1, .member)
    let (late, early) = (
      try SettingContent(store: "store", key: "k", value: [UInt8](repeating: 1, count: 10)),
      try SettingContent(store: "store", key: "k", value: [2, 2, 2])
    )
    let key = EntityKey(.setting, late.name.tag)
    try other.write(early, at: 1)
    try space.owner.write(late, at: 2)
    try space.synchronise(&space.owner)
    try space.owner.delete([key], ofGroupWith: 1, at: 3)
    for _ in 0..<2 {
      try space.synchronise(&space.owner)
      try space.synchronise(&other)
    }
    for replica in [space.owner, other] {
      #expect(replica.state[key]?.setting?.value == .clear(early.bytes))
      #expect(replica.state.quota.used(by: "store").bytes == 3)
    }
  }

  @Test(arguments: [1, 65_524, 65_525, 1 << 20, 1 << 20 + 1]) func aSettingIsOneValueHoweverLong(count: Int) throws {
    var space = try Space()
    var other = try space.join(1, .member)
    let value = [UInt8](repeating: 7, count: count)
    guard count <= 1 << 20 else {
      #expect(throws: VoidCause.form) { try SettingContent(store: "store", key: "key", value: value) }
      return
    }
    let setting = try SettingContent(store: "store", key: "key", value: value)
    try space.owner.write(setting, at: 1)
    #expect(space.owner.keptObjects.count == (count > 65_524 ? 1 : 0))
    space.owner = try space.owner.restored()
    try space.synchronise(&space.owner)
    try space.synchronise(&other)
    let key = EntityKey(.setting, setting.name.tag)
    // A whole MiB too: the key does not count.
    #expect(space.owner.refused.isEmpty && other.state.quota.used(by: "store").bytes == count)
    let shown = try #require(other.shown(key)?.shown(.content))
    #expect(try other.setting(of: shown) { try space.engine.get($0) } == setting)
    guard count > 65_524 else { return }
    #expect(throws: (any Error).self) { try other.setting(of: shown) { _ in nil } }
    // The name of a large setting is in the rows of a checkpoint too.
    #expect(try space.appendCheckpoint())
    let late = try space.join(2, .member)
    #expect(late.state.quota.used(by: "store") == space.owner.state.quota.used(by: "store"))
    #expect(try late.setting(of: try #require(late.shown(key)?.shown(.content))) { try space.engine.get($0) } == setting)
    #expect(space.owner.neededObjects.isSuperset(of: other.shown(key)?[.content].compactMap(\.value.object) ?? []))
  }

  @Test func namesOfSettingsAreBytes() throws {
    let (one, two) = (try SettingName(store: "caf\u{E9}", key: "k"), try SettingName(store: "cafe\u{301}", key: "k"))
    #expect(one != two && one.tag != two.tag && Set([one, two]).count == 2)
    var space = try Space()
    for name in [one, two] { try space.owner.write(SettingContent(name, value: [UInt8](repeating: 1, count: 600_000)), at: 1) }
    try space.synchronise(&space.owner)
    #expect(space.owner.refused.isEmpty && space.owner.state.quota.used(by: one.store).keys == 1)
    // A device could not read its own files with such a store.
    #expect(throws: VoidCause.form) { try SettingName(store: "a\nb", key: "k") }
    #expect(throws: Never.self) { try SettingName(store: "s", key: "a\nb") }
  }

  /// A value that a removed device could open is sealed anew before it is appended.
  @Test func largeValuesThatWaitAreSealedUnderTheNewKey() throws {
    var space = try Space()
    var other = try space.join(1, .member)
    let third = try space.join(2, .member)
    try space.synchronise(&other)
    let large = String(repeating: "x", count: 70_000)
    let key = try Space.write("bob", large, in: &other)
    try Space.change(key, "small", at: 2, in: &other)
    let setting = try SettingContent(store: "s", key: "k", value: [UInt8](repeating: 1, count: 70_000))
    try other.write(setting, at: 3)
    let before = other.pending.map(\.operation.dot)
    space.owner.remove([third.id])
    try space.synchronise(&space.owner)
    try space.synchronise(&other)
    #expect(other.epoch == 1 && other.pending.isEmpty)
    #expect(try Space.secrets(key, in: other) == ["small"])
    let operations = try other.keptOperations()
    #expect(operations.count == 3 && operations.allSatisfy { !before.contains($0.dot) })
    let renewed = try #require(operations[2][.content]?.value)
    #expect(try other.setting(of: renewed) { try space.engine.get($0) } == setting)
    guard case .object(let name, 70_000, nil)? = operations[0][.secret]?.value else { throw Halt.keyMissing }
    #expect(try space.engine.get(name)?.prefix(4) == [1, 0, 0, 0])
    #expect(try space.engine.get(name)?.count == 4 + 40 + 73_728)
  }

  /// One changed secret takes at most 400 bytes.
  @Test func aChangedSecretIsSmall() throws {
    var space = try Space()
    let key = try Space.write("bob", "first", in: &space.owner)
    try space.synchronise(&space.owner)
    try Space.change(key, "correct horse battery", in: &space.owner)
    try space.synchronise(&space.owner)
    let bytes = try #require(space.owner.kept.last).bytes.count
    print("sync: a changed secret is an entry of \(bytes) bytes")
    #expect(bytes <= 400)
  }
}
