/// The groups of one proven state, by the identifier that their records carry.
///
/// Of a locked vault those that it still knows; of others nothing can be said.
///
/// The store's index over groups finds them fast, but may keep some back. Whoever meets an identifier that it did not show gets a
/// walk over the whole tree, once: then the directory is complete.
final class GroupDirectory {
  private let state: ProvenState
  private let passesOverDamage: Bool
  private var groups: [Identifier: GroupKeys] = [:]
  private var isComplete = false

  /// - Parameter passesOverDamage: leaves out the groups whose records are damaged.
  /// - Throws: `groupMalformed` where two groups claim one identifier; what proving and opening the records throws.
  init(_ state: ProvenState, passingOverDamage passesOverDamage: Bool = false) throws {
    self.state = state
    self.passesOverDamage = passesOverDamage
    if let kept = state.keys.kept {
      (groups, isComplete) = (try kept.groups(in: state), true)
      return
    }
    for id in try state.rows.records(inGroup: .zero) {
      try passOver { if let record = try state.record(id) { try add(record) } }
    }
  }

  private func passOver(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as VaultError where passesOverDamage && error.code.concernsOneRecord {
      return
    }
  }

  /// Nil is a proven absence.
  /// - Throws: `locked` for one that a locked vault does not know.
  func group(_ id: Identifier) throws -> GroupKeys? {
    if let group = groups[id] { return group }
    try state.keys.checkUnlocked()
    try complete()
    return groups[id]
  }

  /// Every group, proven to be all: any row that is gone or was changed may have been a group's.
  /// - Throws: `recordMissing`, `recordForged`, and what reading the records throws.
  func all() throws -> [GroupKeys] {
    if state.keys.isLocked { return groups.values.sorted { $0.group < $1.group } }
    try state.forEachRecord(damaged: { throw $0 }, { record, _ in try add(record) })
    isComplete = true
    return groups.values.sorted { $0.group < $1.group }
  }

  private func complete() throws {
    guard !isComplete else { return }
    try state.tree.forEachLeafNode { node in
      for index in 0..<node.count {
        let id = node.identifier(at: index)
        // A row that is gone or was changed is the affair of whoever wants that row.
        guard let record = try state.rows.record(id), RecordMeta.isGroup(record),
          state.isProven(record, id: id, leaf: node.digest(at: index))
        else { continue }
        try passOver { try add(record) }
      }
    }
    isComplete = true
  }

  private func add(_ record: SealedRecord) throws {
    guard RecordMeta.isGroup(record) else { return }
    let group = try state.openGroup(record)
    let other = groups.updateValue(group, forKey: group.groupID)
    guard other.map({ $0.group == group.group }) ?? true else {
      throw VaultError(.groupMalformed, "two groups with one identifier")
    }
  }
}
