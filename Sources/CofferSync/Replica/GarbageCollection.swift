/// For how long this device has seen what no device needs any more. Section 7.1 of docs/sync-format.md.
///
/// It counts looks, of which the caller makes at most one a day, and no times: a clock that jumps twenty years is one look.
package struct GarbageCollection: Equatable, Sendable {
  /// The looks at a checkpoint before the entries in front of it are deleted: a device that was off for less reads them.
  private let entryLooks: Int
  /// The looks at an object that nothing names before it is deleted: a device stores it before the entry that names it.
  private let objectLooks: Int
  /// A program that writes to the engine may make as many objects as it likes.
  private static let objectLimit = 4096

  /// The looks at each checkpoint, by its number.
  private var checkpoints: [UInt64: UInt32] = [:]
  /// The looks at each object that nothing names.
  private var objects: [ObjectName: UInt32] = [:]

  /// - Parameters:
  ///   - entryLooks: Entries are deleted if there were more looks at the checkpoint behind them.
  ///   - objectLooks: Objects are deleted if there were more looks at them.
  package init(entryLooks: Int = 30, objectLooks: Int = 7) {
    (self.entryLooks, self.objectLooks) = (entryLooks, objectLooks)
  }

  /// Deletes what was not needed for long enough.
  /// - Parameters:
  ///   - replica: Has read all of the log.
  ///   - names: The objects of the engine.
  /// - Throws: errors of the engine. A later look deletes the rest.
  mutating func look(at replica: Replica, _ names: Set<ObjectName>, _ engine: any Engine) throws {
    for checkpoint in replica.checkpoints { checkpoints[checkpoint.number, default: 0] += 1 }
    // A device that began with the last checkpoint does not know what the entries before it name.
    guard replica.checkpoints.count == 2 || replica.kept.first?.number == 0 else { return }
    var next: [ObjectName: UInt32] = [:]
    for name in names.subtracting(replica.neededObjects) where next.count < Self.objectLimit || objects[name] != nil {
      next[name] = (objects[name] ?? 0) + 1
    }
    objects = next
    try deleteEntries(replica, engine)
    let old = objects.filter { $0.value > objectLooks }.map(\.key)
    guard !old.isEmpty else { return }
    try engine.delete(old.sorted())
    for name in old { objects[name] = nil }
  }

  private mutating func deleteEntries(_ replica: Replica, _ engine: any Engine) throws {
    guard replica.checkpoints.count == 2 else { return }
    let limit = replica.checkpoints[0].number
    guard let end = checkpoints.filter({ $0.key <= limit && $0.value > entryLooks }).keys.max() else { return }
    // Those that were deleted may have come back with a backup.
    try engine.deleteEntries(replica.deletableEntries(before: end))
    checkpoints = checkpoints.filter { $0.key >= end }
  }
}

extension GarbageCollection {
  package func write(to writer: inout BodyWriter) {
    writer.append(UInt32(checkpoints.count))
    for (number, looks) in checkpoints.sorted(by: { $0.key < $1.key }) {
      writer.append(number)
      writer.append(looks)
    }
    writer.append(UInt32(objects.count))
    for (name, looks) in objects.sorted(by: { $0.key < $1.key }) {
      writer.append(name.digest)
      writer.append(looks)
    }
  }

  package init(reading reader: inout BodyReader) throws {
    self.init()
    let checkpointCount: UInt32 = try reader.readInteger()
    for _ in 0..<checkpointCount {
      let number: UInt64 = try reader.readInteger()
      checkpoints[number] = try reader.readInteger()
    }
    let objectCount: UInt32 = try reader.readInteger()
    for _ in 0..<objectCount {
      let name = ObjectName(digest: try reader.readDigest())
      objects[name] = try reader.readInteger()
    }
  }
}
