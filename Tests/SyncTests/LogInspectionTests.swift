import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import CofferSync
@testable import SyncSimulation

/// A look at all of the log. Section 7.1 of docs/sync-format.md.
@Suite struct LogInspectionTests {
  /// A file was deleted, or a file server has lost it: devices that are ahead have it.
  @Test func entriesThatAreMissingInTheMiddleArePutBack() throws {
    var space = try Space()
    var other = try space.join(1, .member)
    for number in 0..<4 {
      try Space.write("user\(number)", "x", in: &space.owner)
      try space.synchronise(&space.owner)
    }
    try space.synchronise(&other)
    let log = space.engine.logs[0]
    try space.engine.deleteEntries([1..<2, 3..<5])
    try space.synchronise(&other)
    #expect(other.restoredCount == 0 && space.engine.deleted[0]?.count == 3)
    var garbage = GarbageCollection()
    #expect(try !other.inspect(space.engine, &garbage, isCounted: true).lacksEntries && other.restoredCount == 3)
    #expect(space.engine.logs[0] == log && space.engine.deleted[0] == [])
    // Another entry in its place cannot be put right.
    space.engine.replace(3, by: [7])
    #expect(throws: Halt.replaced) { try other.inspect(space.engine, &garbage, isCounted: true) }
    #expect(other.halt == .replaced)
    #expect(throws: Halt.replaced) { try space.synchronise(&other) }
    // It goes on if the right one is there again, or none.
    space.engine.replace(3, by: log[3])
    try space.synchronise(&other)
    #expect(other.halt == nil)
  }

  /// A damaged file in front of the checkpoints stops no device that has read it, and would stop a new one.
  @Test func garbageInThePlaceOfAnOldEntryIsDeleted() throws {
    var space = try Space()
    let keys = try (0..<3).map { number in
      defer { try? space.synchronise(&space.owner) }
      return try Space.write("user\(number)", "x", in: &space.owner)
    }
    for _ in 0..<2 { #expect(try space.appendCheckpoint()) }
    space.engine.replace(2, by: [7])
    var garbage = GarbageCollection()
    #expect(try !space.owner.inspect(space.engine, &garbage, isCounted: false).lacksEntries)
    #expect(space.engine.deleted[0] == [2])
    let late = try space.join(1, .member)
    for key in keys { #expect(try Space.secrets(key, in: late) == ["x"]) }
  }

  /// Another device went on from an entry in front of the checkpoints, and the engine shows its log.
  @Test func anotherHistoryIsNoticedInFrontOfTheCheckpoints() throws {
    var space = try Space()
    var other = try space.join(1, .owner)
    let start = Int(space.owner.count)
    try Space.write("user", "x", in: &space.owner)
    try space.synchronise(&space.owner)
    for _ in 0..<2 { #expect(try space.appendCheckpoint()) }
    let log = space.engine.logs[0]
    space.engine.cut(to: start)
    other.remove([space.owner.id])
    try space.synchronise(&other)
    // The engine was put back for one device, and for the other one it was not.
    #expect(throws: Halt.replaced) { try space.synchronise(&space.owner) }
    for entry in log.dropFirst(start + 1) { _ = try space.engine.append(UInt64(space.engine.logs[0].count), entry) }
    var garbage = GarbageCollection()
    #expect(throws: Halt.replaced) { try space.owner.inspect(space.engine, &garbage, isCounted: true) }
    #expect(throws: Halt.removed) { try space.owner.acceptingHistory(of: space.engine) }
  }

  /// A program that may make files makes one with a number that was deleted; and a device has lost the entries that it kept.
  @Test func entriesThatNoDeviceNeedsProveNothing() throws {
    var space = try Space()
    for number in 0..<3 {
      try Space.write("user\(number)", "x", in: &space.owner)
      try space.synchronise(&space.owner)
    }
    for _ in 0..<2 { #expect(try space.appendCheckpoint()) }
    let deletable = space.deletableEntries
    try space.engine.deleteEntries(deletable)
    _ = try space.engine.append(1, [7])
    var garbage = GarbageCollection(entryLooks: 0, objectLooks: 0)
    #expect(try !space.owner.inspect(space.engine, &garbage, isCounted: false).lacksEntries)
    // An entry that has come back is deleted again.
    for _ in 0..<2 {
      #expect(try !space.owner.inspect(space.engine, &garbage, isCounted: true).lacksEntries)
      #expect(space.engine.deleted[0] == Set(deletable.joined()))
      _ = try space.engine.append(1, [7])
    }
    space.owner.kept = []
    #expect(try !space.owner.inspect(space.engine, &garbage, isCounted: false).lacksEntries)
    try space.engine.deleteEntries([0..<1])
    #expect(try space.owner.inspect(space.engine, &garbage, isCounted: false).lacksEntries)
  }

  /// An owner that began with the last checkpoint does not know the objects of the one before it.
  @Test func anOwnerThatBeganWithACheckpointDeletesNoObjects() throws {
    var space = try Space()
    try Space.write("user", "x", in: &space.owner)
    try space.synchronise(&space.owner)
    for _ in 0..<2 { #expect(try space.appendCheckpoint()) }
    try space.engine.deleteEntries(space.deletableEntries)
    var other = try space.join(1, .owner)
    let objects = space.engine.objects.count
    var garbage = GarbageCollection(entryLooks: 0, objectLooks: 0)
    for _ in 0..<3 { _ = try other.inspect(space.engine, &garbage, isCounted: true) }
    #expect(other.checkpoints.count == 1 && space.engine.objects.count == objects)
  }

  /// Parts of a checkpoint that are missing are stored again, with the next one.
  @Test func aCheckpointWithoutItsPartsIsMadeAnew() throws {
    var space = try Space()
    let key = try Space.write("user", "x", in: &space.owner)
    try space.synchronise(&space.owner)
    // The ages do not change any more.
    for _ in 0..<3 { #expect(try space.appendCheckpoint()) }
    var garbage = GarbageCollection()
    #expect(try space.owner.inspect(space.engine, &garbage, isCounted: true).missingObjects.isEmpty)
    #expect(!space.owner.isCheckpointDue())
    space.engine.keepObjects([])
    let missing = try space.owner.inspect(space.engine, &garbage, isCounted: true).missingObjects
    #expect(missing == Set(space.owner.checkpoints[1].objects) && space.owner.isCheckpointDue(without: missing))
    #expect(try space.appendCheckpoint())
    try space.engine.deleteEntries(space.deletableEntries)
    try space.engine.deleteEntries([space.owner.checkpoints[0].number..<space.owner.checkpoints[0].number + 1])
    #expect(try Space.secrets(key, in: space.join(1, .member)) == ["x"])
  }

  /// An owner that has made a checkpoint long ago does not name its parts again: they may be gone.
  @Test func partsOfEarlierCheckpointsAreNotNamed() throws {
    var space = try Space()
    var other = try space.join(1, .owner)
    try Space.write("user", "x", in: &space.owner)
    try space.synchronise(&space.owner)
    for _ in 0..<3 { #expect(try space.appendCheckpoint()) }
    let parts = Set(space.owner.checkpoints[1].objects)
    for _ in 0..<2 {
      try space.synchronise(&other)
      #expect(try other.appendCheckpoint(to: space.engine) { _ in })
    }
    try space.synchronise(&space.owner)
    #expect(try space.appendCheckpoint())
    #expect(parts.isDisjoint(with: space.owner.checkpoints[1].objects))
  }

  /// Large values are deleted after two checkpoints: few entries may name many bytes. Garbage does not count.
  @Test(arguments: [(70_000, 60), (60_000, 65)]) func aCheckpointIsDueAfterManyBytes(byteCount: Int, changes: Int) throws {
    var space = try Space()
    let other = try space.join(1, .member)
    let key = try Space.write("user", "x", in: &space.owner)
    let large = String(repeating: "x", count: byteCount)
    func change(_ times: Int, _ space: inout Space) throws {
      for time in 0..<times {
        try Space.change(key, large, at: Int64(time), in: &space.owner)
        try space.synchronise(&space.owner)
      }
    }
    try change(changes, &space)
    for _ in 0..<10 {
      _ = try space.engine.append(space.owner.count, [UInt8](repeating: 1, count: SealedEntry.maximumByteCount))
      try space.synchronise(&space.owner)
    }
    #expect(!space.owner.isCheckpointDue())
    try change(15, &space)
    #expect(space.owner.isCheckpointDue() && !other.isCheckpointDue())
    #expect(try space.appendCheckpoint())
    #expect(!space.owner.isCheckpointDue())
    try change(changes, &space)
    #expect(!space.owner.isCheckpointDue())
    try change(15, &space)
    #expect(space.owner.isCheckpointDue())
  }
}
