import VaultCore

extension Replica {
  /// A checkpoint is due after so many entries.
  package static let checkpointInterval: UInt64 = 1024
  /// And after so many bytes, if they are a quarter of the state as well.
  private static let checkpointBytes = 4 << 20

  /// Whether this device may make a checkpoint, and one is due.
  /// - Parameter missing: Objects that the engine has lost: a checkpoint with one of them is of no use.
  package func isCheckpointDue(without missing: Set<ObjectName> = []) -> Bool {
    guard membership[id]?.role == .owner, halt == nil else { return false }
    let start = checkpoints.last.map { $0.number + 1 } ?? 0
    return count - start >= Self.checkpointInterval || hasManyBytes(from: start) || needsOneOf(missing)
  }

  /// Whether a new device would look for one of the objects before it has a state.
  package func needsOneOf(_ missing: Set<ObjectName>) -> Bool { !missing.isDisjoint(with: checkpoints.last?.objects ?? []) }

  /// Whether the entries from a number on, and the values in objects that they name, would be much of the time of a device that joins.
  /// Garbage does not count: a program that makes it would have checkpoints made.
  private func hasManyBytes(from start: UInt64) -> Bool {
    let last = (checkpoints.last?.objects.count ?? 0) * StateParts.maximumByteCount
    let values = namedObjects.count { $0.number >= start } * Value.maximumInlineCount
    let entries = kept.reversed().prefix { $0.number >= start }.reduce(0) { $0 + ($1.isValid ? $1.bytes.count : 0) }
    return entries + values > max(Self.checkpointBytes, last / 4)
  }

  /// Stores the state and appends a checkpoint of it.
  /// - Returns: False if another entry came first: it is folded, and the caller tries again.
  package mutating func appendCheckpoint(to engine: any Engine, commit: (Replica) throws -> Void) throws -> Bool {
    guard let key = keys[epoch], membership[id]?.role == .owner else { return false }
    var names: [ObjectName] = []
    var partNames: [[UInt8]: ObjectName] = [:]
    let digest = try StateParts.cut(state, values) { content, digest in
      let name: ObjectName
      if let former = self.partNames[digest.bytes] {
        name = former
      } else {
        let object = try sealer.seal(content.secret, epoch: epoch)
        name = ObjectName(of: object)
        try engine.put(name, object)
      }
      names.append(name)
      partNames[digest.bytes] = name
    }
    let entry = try seal(
      .checkpoint(
        CheckpointPayload(linkNumber: membership.linkNumber, state: digest, lastEntries: lastEntries, objects: names)), clear: [],
      key: key)
    let number = count
    guard try engine.append(number, entry) == .made else { return false }
    try synchronise(with: engine, commit: commit)
    guard checkpoints.contains(where: { $0.number == number }) else { return false }
    self.partNames = partNames
    return true
  }

  /// The numbers of the entries that no device needs: they are before the last but one checkpoint, or an earlier one, and do not prove the
  /// members.
  /// - Parameter checkpoint: The number of the checkpoint.
  func deletableEntries(before checkpoint: UInt64) -> [Range<UInt64>] {
    var ranges: [Range<UInt64>] = []
    var start: UInt64 = 0
    for end in linkedNumbers.sorted().filter({ $0 < checkpoint }) + [checkpoint] {
      if start < end { ranges.append(start..<end) }
      start = end + 1
    }
    return ranges
  }

  /// The objects that a device may need.
  var neededObjects: Set<ObjectName> {
    Set(checkpoints.flatMap(\.objects)).union(namedObjects.map(\.name)).union(uploads.keys).union(presentObjects)
  }

  /// The objects that a new device needs: the values that no write has replaced, and the last checkpoint.
  var presentObjects: Set<ObjectName> {
    state.entities.values.reduce(into: Set(checkpoints.last?.objects ?? [])) { names, entity in
      names.formUnion(Register.allCases.flatMap { entity[$0].compactMap(\.value.object) })
    }
  }
}
