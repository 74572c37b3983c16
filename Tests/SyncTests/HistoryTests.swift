import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import CofferSync
@testable import SyncSimulation

/// Engines that lie, devices that come late, and removed devices. Sections 3.2, 3.3 and 7 of docs/sync-format.md.
@Suite struct HistoryTests {
  @Test func anEngineThatWasPutBackIsCompletedByteForByte() throws {
    var space = try Space()
    var other = try space.join(1, .member)
    let key = try Space.write("bob", "x", in: &space.owner)
    try space.synchronise(&space.owner)
    let log = space.engine.logs[0]
    space.engine.cut(to: 1)
    try space.synchronise(&space.owner)
    #expect(space.engine.logs[0] == log)
    try space.synchronise(&other)
    #expect(try Space.secrets(key, in: other) == ["x"])
  }

  /// A device whose kept entries were lost does not write behind a log that it cannot complete, and says so.
  @Test func anEngineThatWasPutBackIsMissedWithoutKeptEntries() throws {
    var space = try Space()
    try Space.write("bob", "x", in: &space.owner)
    try space.synchronise(&space.owner)
    space.owner.kept = []
    space.engine.cut(to: 1)
    try Space.write("eve", "y", in: &space.owner)
    #expect(throws: Halt.entriesMissing) { try space.synchronise(&space.owner) }
    #expect(space.owner.pending.count == 1 && space.owner.halt == nil)
  }

  @Test func aForkStopsUntilThePersonAccepts() throws {
    var space = try Space()
    var other = try space.join(1, .member)
    let key = try Space.write("bob", "x", in: &space.owner)
    try space.synchronise(&space.owner)
    // The engine forgets it, and shows the rest to the other device.
    space.engine.cut(to: 2)
    let second = try Space.write("eve", "y", in: &other)
    try space.synchronise(&other)
    #expect(throws: Halt.replaced) { try space.synchronise(&space.owner) }
    #expect(space.owner.halt == .replaced)
    #expect(throws: Halt.replaced) { try space.synchronise(&space.owner) }
    space.owner = try space.owner.acceptingHistory(of: space.engine)
    try space.synchronise(&space.owner)
    try space.synchronise(&other)
    #expect(try Space.secrets(key, in: other) == ["x"] && Space.secrets(second, in: space.owner) == ["y"])
    #expect(other.leftHistories.map(\.device) == [space.owner.id] && other.leftHistories[0].left.number == 3)
    #expect(try other.state.digest(other.values) == space.owner.state.digest(space.owner.values))
  }

  @Test func anEntryOfAMemberWithAnotherChainIsAForkAndAnyOtherIsVoid() throws {
    var space = try Space()
    var other = try space.join(1, .member)
    var elsewhere = other.position
    elsewhere.chain = .zero
    let key = try #require(other.keys[0])
    for (identity, isFork) in [(other.identity, true), (try Space.identity(9), false)] {
      let entry = try SealedEntry.seal(
        Body(link: nil, .presence), clear: [], position: elsewhere, key: key, author: identity, other.values)
      var reader = space.owner
      if isFork {
        #expect(throws: Halt.forked) { try reader.fold(entry) }
        #expect(reader.count == space.owner.count)
      } else {
        #expect(try reader.fold(entry) == .chain)
      }
    }
    try space.synchronise(&other)
  }

  @Test func voidEntriesWarnAndStopNothing() throws {
    var space = try Space()
    for number in 0..<64 {
      #expect(!space.owner.warnsOfVoidEntries)
      _ = try space.engine.append(space.owner.count, [UInt8](repeating: UInt8(number), count: 300))
      try space.synchronise(&space.owner)
    }
    #expect(space.owner.warnsOfVoidEntries && space.owner.halt == nil)
    let key = try Space.write("bob", "x", in: &space.owner)
    try space.synchronise(&space.owner)
    #expect(try !space.owner.warnsOfVoidEntries && Space.secrets(key, in: space.owner) == ["x"])
  }

  @Test func aRemovalIsOneEntryWithTheNextKey() throws {
    var space = try Space()
    var (other, third) = (try space.join(1, .member), try space.join(2, .member))
    try space.synchronise(&other)
    let (count, old) = (space.owner.count, try #require(third.keys[0]))
    space.owner.remove([third.id], erase: true)
    try space.synchronise(&space.owner)
    #expect(space.owner.count == count + 1 && space.owner.epoch == 1)
    try space.synchronise(&other)
    #expect(throws: Halt.removed) {
      try space.synchronise(&third)
      try space.synchronise(&third)
    }
    #expect(third.keys[1] == nil)
    // The removed device writes on with its key, and with the new one that somebody gave it.
    let new = try #require(other.keys[1])
    for (key, epoch, cause) in [(old, UInt32(0), VoidCause.epoch), (old, 1, .seal), (new, 1, .author)] {
      var position = space.owner.position
      position.epoch = epoch
      let entry = try SealedEntry.seal(
        Body(link: nil, .presence), clear: [], position: position, key: key, author: third.identity, third.values)
      var reader = space.owner
      #expect(try reader.fold(entry) == cause)
    }
    // It does not come back, and others read what came before.
    space.owner.add(third.identity.record(.member))
    try space.synchronise(&space.owner)
    #expect(space.owner.membership[third.id] == nil && space.owner.drafts.isEmpty)
    let late = try space.join(3, .member)
    #expect(late.epoch == 1 && late.keys[0]?.isEqual(to: old) == true && late.chain == space.owner.chain)
  }

  /// Others have removed the device before this one appends.
  @Test func aRemovalOfNobodyIsNotAppended() throws {
    var space = try Space()
    let other = try space.join(1, .member)
    for _ in 0..<2 {
      space.owner.remove([other.id])
      try space.synchronise(&space.owner)
    }
    #expect(space.owner.drafts.isEmpty && space.owner.voidRun == 0 && space.owner.epoch == 1)
  }

  /// If a member gives others no key, or another one, each device finds the removal void, and so do devices that come later.
  @Test func aRemovalThatWithholdsTheKeyIsVoidForAll() throws {
    var space = try Space()
    var (other, third) = (try space.join(1, .member), try space.join(2, .member))
    try space.synchronise(&other)
    let (removed, present) = (third.id, try #require(other.keys[0]))
    let staying = other.membership.staying(without: [removed])
    let (next, second) = (LockedBytes(try Secret.random(count: 32)), LockedBytes(try Secret.random(count: 32)))
    let back = try SealedKeys.sealBack(present, under: next, other.space)
    let right = try SealedKeys.sealNext(next, for: staying, other.space)
    let wrong = try SealedKeys.sealNext(second, for: staying, other.space)
    for index in staying.indices {
      var clear = back + right
      let place = back.count + 32 + index * 80..<back.count + 32 + (index + 1) * 80
      clear.replaceSubrange(place, with: (back + wrong)[place])
      let entry = try space.owner.seal(.remove([removed], erase: false), clear: clear, key: present)
      #expect(try space.owner.fold(entry) == .key)
      #expect(try other.fold(entry) == .key)
      _ = try space.engine.append(space.owner.count - 1, entry)
    }
    #expect(other.chain == space.owner.chain && other.epoch == 0 && other.halt == nil)
    let late = try space.join(3, .member)
    space.owner.remove([removed])
    try space.synchronise(&space.owner)
    try space.synchronise(&other)
    let later = try space.join(4, .member)
    #expect(late.epoch == 0 && later.chain == space.owner.chain && other.epoch == 1 && later.epoch == 1)
  }

  @Test func aLogWithoutOldEntriesIsReadFromTheCheckpoint() throws {
    var space = try Space()
    var behind = try space.join(1, .member)
    let third = try space.join(2, .member)
    var keys: [EntityKey] = []
    for number in 0..<10 {
      keys.append(try Space.write("user\(number)", "secret\(number)", in: &space.owner))
      try space.synchronise(&space.owner)
    }
    try space.owner.write(SettingContent(store: "s", key: "large", value: [UInt8](repeating: 1, count: 60_000)), at: 1)
    try space.synchronise(&space.owner)
    // While it is away, it changes an item that is then deleted and forgotten.
    try space.synchronise(&behind)
    try Space.change(keys[0], "edited", at: 7, in: &behind)
    space.owner.remove([third.id])
    try space.owner.delete([keys[0]], ofGroupWith: 10, at: 3)
    try space.synchronise(&space.owner)
    for _ in 0..<3 { #expect(try space.appendCheckpoint()) }
    #expect(space.owner.state[keys[0]] == nil && space.owner.state[keys[1]] != nil)
    try space.engine.deleteEntries(space.deletableEntries)
    #expect(space.engine.deleted[0]?.count ?? 0 > 10 && space.deletableEntries.allSatisfy { !$0.contains(0) })
    space.engine.keepObjects(space.owner.neededObjects)
    var late = try space.join(3, .member)
    try space.synchronise(&behind)
    try space.synchronise(&late)
    try space.synchronise(&space.owner)
    for replica in [late, behind, space.owner] {
      #expect(try Space.secrets(keys[9], in: replica) == ["secret9"])
      #expect(try Space.secrets(keys[0], in: replica) == ["edited"])
      #expect(replica.shown(keys[0])?.shown(.content) != nil, "the edit was completed")
      #expect(replica.chain == space.owner.chain && replica.state.quota.used(by: "s").bytes == 60_000)
      #expect(try replica.state.digest(replica.values) == space.owner.state.digest(space.owner.values))
    }
    // Devices need none of what was deleted: nothing is put back.
    var garbage = GarbageCollection()
    for replica in [late, behind, space.owner] {
      var replica = replica
      #expect(try !replica.inspect(space.engine, &garbage, isCounted: true).lacksEntries && replica.restoredCount == 0)
    }
    // Nor in front of what an engine has lost that was put back.
    let (log, deleted) = (space.engine.logs[0], space.engine.deleted)
    space.engine.cut(to: log.count - 2)
    try space.synchronise(&space.owner)
    #expect(space.engine.logs[0] == log && space.engine.deleted == deleted)
    // An engine that leaves out an entry of the members is noticed.
    try space.engine.deleteEntries([1..<2])
    #expect(throws: Halt.entriesMissing) { try space.join(4, .member) }
    #expect(try late.inspect(space.engine, &garbage, isCounted: true).lacksEntries, "it began with the checkpoint")
    #expect(try !space.owner.inspect(space.engine, &garbage, isCounted: true).lacksEntries && space.owner.restoredCount == 3)
    _ = try space.join(5, .member)
  }

  /// Garbage, and a true entry that was copied to another number.
  @Test func entriesBehindAGapStopNoDevice() throws {
    var space = try Space()
    var other = try space.join(1, .member)
    let copy = space.engine.logs[0][1]
    space.engine.strays = [NumberedEntry(50, copy), NumberedEntry(51, [7]), NumberedEntry((1 << 62) - 1, copy)]
    let key = try Space.write("bob", "x", in: &space.owner)
    try space.synchronise(&space.owner)
    try space.synchronise(&other)
    let late = try space.join(2, .member)
    let anew = try space.owner.acceptingHistory(of: space.engine)
    for replica in [other, late, anew] { #expect(try Space.secrets(key, in: replica) == ["x"]) }
    #expect(late.count == space.owner.count && late.chain == space.owner.chain)
    // An engine that was put back is completed, and a log whose entries were deleted is read.
    let log = space.engine.logs[0]
    space.engine.cut(to: 1)
    try space.synchronise(&space.owner)
    #expect(space.engine.logs[0] == log)
    for _ in 0..<2 { #expect(try space.appendCheckpoint()) }
    try space.engine.deleteEntries(space.deletableEntries)
    #expect(space.engine.deleted[0]?.isEmpty == false)
    try space.synchronise(&other)
    #expect(other.chain == space.owner.chain && other.halt == nil)
  }

  /// A checkpoint is believed without the entries before it only if these are missing, and not because of garbage far behind it.
  @Test func aCheckpointBehindNoGapIsProven() throws {
    var space = try Space()
    var behind = try space.join(1, .member)
    try Space.write("user", "x", in: &space.owner)
    try space.synchronise(&space.owner)
    #expect(try space.appendCheckpoint())
    space.engine.replace(2, by: [7])
    space.engine.strays = [NumberedEntry(50, [7])]
    #expect(throws: Halt.forked) { try space.synchronise(&behind) }
    for replica in [behind, space.owner] { #expect(try replica.acceptingHistory(of: space.engine).checkpoints.isEmpty) }
  }

  /// It is the sign that those before it are missing: a device that took it for garbage would write in their place.
  @Test func anEntryOfAMemberBehindAGapStops() throws {
    var space = try Space()
    var behind = try space.join(1, .member)
    for number in 0..<3 {
      try Space.write("user\(number)", "x", in: &space.owner)
      try space.synchronise(&space.owner)
    }
    try space.engine.deleteEntries([behind.count..<behind.count + 1])
    let count = behind.count
    #expect(throws: Halt.entriesMissing) { try space.synchronise(&behind) }
    #expect(behind.count == count && behind.halt == nil)
  }

  /// A member makes an entry far behind the end, or the entries before it are lost for good: who accepts the rest goes on, also when the
  /// log reaches that entry, and in the next process.
  @Test func anAcceptedHistoryGoesOnWithoutEntriesBehindAGap() throws {
    var space = try Space()
    var other = try space.join(1, .member)
    var ahead = other
    ahead.position.number += 3
    let stray = try ahead.seal(.presence, clear: [], key: try #require(ahead.keys[0]))
    space.engine.strays = [NumberedEntry(ahead.count, stray)]
    let count = space.owner.count
    #expect(throws: Halt.entriesMissing) { try space.synchronise(&space.owner) }
    space.owner = try space.owner.acceptingHistory(of: space.engine)
    let key = try Space.write("bob", "x", in: &space.owner)
    try space.synchronise(&space.owner)
    #expect(space.owner.count == count + 2 && space.owner.pending.isEmpty)
    space.owner = try space.owner.restored()
    space.owner.wantsPresence = true
    try space.synchronise(&space.owner)
    space.engine.strays = []
    _ = try space.engine.append(ahead.count, stray)
    try Space.change(key, "y", in: &space.owner)
    try space.synchronise(&space.owner)
    #expect(space.owner.halt == nil && space.owner.pending.isEmpty && space.owner.count == ahead.count + 2)
    // The member is named, and the others come after it.
    #expect(try space.owner.author(of: stray)?.name == "device 1" && space.owner.author(of: [7]) == nil)
    #expect(throws: Halt.forked) { try space.synchronise(&other) }
    other = try other.acceptingHistory(of: space.engine)
    try space.synchronise(&other)
    #expect(try Space.secrets(key, in: other) == ["y"])
    #expect(try Space.secrets(key, in: space.join(2, .member)) == ["y"], "a new device takes it as accepted")
  }

  /// A member may name an object that is nowhere, and an engine may lose one.
  @Test func anObjectThatIsMissingStopsNothing() throws {
    var space = try Space()
    var other = try space.join(1, .member)
    let key = try Space.write("bob", String(repeating: "x", count: 70_000), in: &space.owner)
    let object = try #require(space.owner.uploads.first)
    try space.synchronise(&space.owner)
    space.engine.keepObjects([])
    let second = try Space.write("eve", "y", in: &space.owner)
    try space.synchronise(&space.owner)
    try space.synchronise(&other)
    #expect(try Space.secrets(second, in: other) == ["y"] && other.count == space.owner.count)
    let value = try #require(other.shown(key)?.shown(.secret))
    #expect(throws: Halt.objectMissing(object.key)) { try other.content(of: value) { try space.engine.get($0) } }
    #expect(try other.acceptingHistory(of: space.engine).chain == other.chain)
    try space.engine.put(object.key, object.value)
    #expect(try other.content(of: value) { try space.engine.get($0) }.count == 70_000)
  }

  @Test func aFalseCheckpointIsReported() throws {
    var space = try Space()
    var other = try space.join(1, .owner)
    other.state = SpaceState(generation: 5)
    _ = try Space.write("bob", "x", in: &space.owner)
    try space.synchronise(&space.owner)
    try space.synchronise(&other)
    other.state = SpaceState()
    _ = try other.appendCheckpoint(to: space.engine) { _ in }
    #expect(throws: Halt.checkpointFalse) { try space.synchronise(&space.owner) }
    #expect(space.owner.halt == .checkpointFalse)
    // The person accepts the log, in which it changes nothing, and removes the owner that has made it.
    space.owner = try space.owner.acceptingHistory(of: space.engine)
    space.owner.remove([other.id])
    try space.synchronise(&space.owner)
    let late = try space.join(2, .member)
    #expect(late.chain == space.owner.chain && late.checkpoints.isEmpty && late.membership[other.id] == nil)
    #expect(try late.state.digest(late.values) == space.owner.state.digest(space.owner.values))
  }

  /// No fold makes such a state, and a device that took it could not write it.
  @Test func aCheckpointWithWritesWithoutNumberIsRejected() throws {
    let values = try ValueKey()
    for count in [Entity.maximumLiveCount, Entity.maximumLiveCount + 1] {
      var (state, entity) = (SpaceState(), Entity())
      for number in 0..<count {
        let dot = try #require(Identifier([UInt8](repeating: 1, count: 14) + [UInt8(number >> 8), UInt8(number & 255)]))
        entity.add(Write(dot: dot, modified: 1, value: Operation.alive, generation: 2), to: .life)
      }
      state.insert(entity, EntityKey(.item, .zero), store: nil)
      var parts: [LockedBytes] = []
      let digest = try StateParts.cut(state, values) { content, _ in parts.append(content) }
      func take() throws -> SpaceState {
        try SpaceState(parts, digest: digest, values, open: { $0 }, store: { _, _ in nil })
      }
      if count == Entity.maximumLiveCount { #expect(try take() == state) } else { #expect(throws: VoidCause.form) { try take() } }
    }
  }

  /// An unchanged part of the state is named again: a change of one item costs one part.
  @Test func unchangedPartsOfACheckpointAreNamedAgain() throws {
    var space = try Space()
    for number in 0..<2_400 {
      try Space.write("user\(number)", "secret", in: &space.owner)
      if number % 200 == 199 { try space.synchronise(&space.owner) }
    }
    for _ in 0..<3 { #expect(try space.appendCheckpoint()) }
    let first = try #require(space.owner.checkpoints.last).objects
    // The ages do not change any more.
    let key = EntityKey(.item, try Space.content("user7").tag)
    try Space.change(key, "new", at: 2, in: &space.owner)
    try space.synchronise(&space.owner)
    #expect(try space.appendCheckpoint())
    let second = try #require(space.owner.checkpoints.last).objects
    #expect(first.count >= 2 && first.count == second.count)
    #expect(zip(first, second).filter { $0 != $1 }.count == 1)
  }
}
