import VaultCore

extension Replica {
  /// A checkpoint is due after so many entries; the caller adds a random time, and its own rule for bytes.
  package static let checkpointInterval: UInt64 = 1024

  /// Whether this device may make a checkpoint, and one is due.
  /// - Parameter missing: Objects that the engine has lost: a checkpoint with one of them is of no use.
  package func isCheckpointDue(without missing: Set<ObjectName> = []) -> Bool {
    guard membership[id]?.role == .owner, halt == nil else { return false }
    return count - (checkpoints.last.map { $0.number + 1 } ?? 0) >= Self.checkpointInterval
      || checkpoints.last.map { !missing.isDisjoint(with: $0.objects) } ?? false
  }

  /// Stores the state and appends a checkpoint of it.
  /// - Returns: False if another entry came first: it is folded, and the caller tries again.
  package mutating func appendCheckpoint(to engine: any Engine, commit: (Replica) throws -> Void) throws -> Bool {
    guard let key = keys[epoch], membership[id]?.role == .owner else { return false }
    let parts = try StateParts(state, values)
    var names: [ObjectName] = []
    var partNames: [[UInt8]: ObjectName] = [:]
    for part in parts.parts {
      let name: ObjectName
      if let former = self.partNames[part.digest.bytes] {
        name = former
      } else {
        let object = try sealer.seal(part.content.secret, epoch: epoch)
        name = ObjectName(of: object)
        try engine.put(name, object)
      }
      names.append(name)
      partNames[part.digest.bytes] = name
    }
    let entry = try seal(
      .checkpoint(linkNumber: membership.linkNumber, state: parts.digest, objects: names), clear: [], key: key)
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
