import VaultCore

extension Replica {
  /// A checkpoint is due after so many entries; the caller adds a random time, and its own rule for bytes.
  package static let checkpointInterval: UInt64 = 1024

  /// Whether this device may make a checkpoint, and one is due.
  package var isCheckpointDue: Bool {
    membership[id]?.role == .owner && halt == nil
      && count - (checkpoints.last.map { $0.number + 1 } ?? 0) >= Self.checkpointInterval
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

  /// The numbers of the entries that no device needs: they are before the last but one checkpoint, and do not prove the members. The
  /// caller deletes them when it has seen that checkpoint for 30 days.
  package var deletableEntries: [Range<UInt64>] {
    guard checkpoints.count == 2 else { return [] }
    var ranges: [Range<UInt64>] = []
    var start: UInt64 = 0
    for end in linkedNumbers.sorted().filter({ $0 < checkpoints[0].number }) + [checkpoints[0].number] {
      if start < end { ranges.append(start..<end) }
      start = end + 1
    }
    return ranges
  }

  /// The objects that a device may need. The caller deletes others when it has seen for 7 days that they are not among them.
  package var neededObjects: Set<ObjectName> {
    var names = Set(checkpoints.flatMap(\.objects)).union(namedObjects.map(\.name)).union(uploads.keys)
    for entity in state.entities.values {
      names.formUnion(Register.allCases.flatMap { entity[$0].compactMap(\.value.object) })
    }
    return names
  }
}
