import SecretMemory
public import VaultCore

extension Vault {
  /// Removes for good each former version beyond the limits of the vault, and those that no item names any more, because their
  /// item was removed without being opened. Versions of items that do not open here stay. A walk over all items and versions; one
  /// commit, or none if there is nothing to remove.
  /// - Parameters:
  ///   - removedItems: Whether all versions of removed items go, too.
  ///   - isIncluded: Called with the group of each version.
  /// - Returns: How many were removed.
  /// - Throws: `locked`; integrity errors.
  @discardableResult
  public mutating func purgeExpired(
    at now: Timestamp, removedItems: Bool = false, where isIncluded: (AccessGroup) -> Bool = { _ in true }
  ) throws -> Int {
    try transaction { transaction in
      try transaction.keys.checkUnlocked()
      let found = try VersionOwners(transaction.state, isIncluded)
      let limits = try transaction.state.limits()
      var count = 0
      for (owner, isRemoved, versions) in found.owners {
        let kept = isRemoved && removedItems ? [] : Set(limits.kept(versions, at: now))
        guard versions.contains(where: { !kept.contains($0) }) else { continue }
        count += try transaction.purge(owner) { !kept.contains($0) }
      }
      for id in found.unnamed { try transaction.edit(id, nil) }
      return count + found.unnamed.count
    }
  }
}

/// The items of a state with their former versions, and the versions without an item.
private struct VersionOwners {
  private(set) var owners: [(owner: Reference, isRemoved: Bool, versions: [FormerVersion])] = []
  private(set) var unnamed: [Identifier] = []

  init(_ state: ProvenState, _ isIncluded: (AccessGroup) -> Bool) throws {
    let directory = try GroupDirectory(state)
    var named: Set<Identifier> = []
    var met: [Identifier] = []
    // An item that does not open may own any of them.
    var isComplete = true
    func noteDamage(_: VaultError) { isComplete = false }
    for kind in [RecordKind.item, .history] {
      try state.forEachRecord(kind, damaged: noteDamage) { record, meta in
        do {
          guard let group = try directory.group(record.group) else { throw VaultError(.unknownGroup) }
          let entry: (reference: Reference, versions: [FormerVersion])
          if kind == .item {
            let item = try state.openItem(record, meta: meta, group: group)
            entry = (item.reference, item.former)
          } else {
            let former = try state.openFormer(record, in: group)
            if !former.isRemoved, isIncluded(group.group) { met.append(record.id) }
            guard former.isRemoved else { return }
            entry = (Reference(group: group.group, id: former.version.origin), [former.version] + former.former)
          }
          named.formUnion(entry.versions.map { group.historyID($0.origin, $0.number) })
          guard isIncluded(group.group), !entry.versions.isEmpty else { return }
          owners.append((owner: entry.reference, isRemoved: kind == .history, versions: entry.versions))
        } catch let error as VaultError {
          guard error.code.meansSealedElsewhere else { throw error }
          isComplete = false
        }
      }
    }
    if isComplete { unnamed = met.filter { !named.contains($0) } }
  }
}
