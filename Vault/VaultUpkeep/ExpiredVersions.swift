public import SecretMemory
public import VaultCore

extension Vault {
  /// Removes for good each former version beyond the limits of the vault, and those that no item names because their item was removed
  /// without being opened. Versions of items that do not open here stay, and so do those that a repair can give back to their item. A walk
  /// over all items and versions; one commit, or none if there is nothing to remove.
  /// - Parameters:
  ///   - removedItems: Whether all versions of removed items go, too.
  ///   - damaged: Called for each record that is damaged. Its versions stay, and the others are looked through.
  ///   - isIncluded: Called with the group of each version.
  /// - Returns: How many were removed.
  /// - Throws: `locked`; faults of the header and of the tree.
  @discardableResult
  public mutating func purgeExpired(
    at now: Timestamp, removedItems: Bool = false, damaged: (VaultError) -> Void = { _ in },
    where isIncluded: (AccessGroup) -> Bool = { _ in true }
  ) throws -> Int {
    try transaction { transaction in
      try transaction.keys.checkUnlocked()
      let found = try VersionOwners(transaction.state, damaged, isIncluded)
      let limits = try transaction.state.limits(damaged: damaged)
      var count = 0
      for (owner, isRemoved, versions) in found.owners {
        let kept = isRemoved && removedItems ? [] : Set(limits.kept(versions, at: now))
        guard versions.contains(where: { !kept.contains($0) }) else { continue }
        do { count += try transaction.purge(owner) { !kept.contains($0) } } catch let error as VaultError {
          guard error.code.concernsOneRecord else { throw error }
          damaged(error.naming(owner.id))
        }
      }
      for (row, origin, group) in found.unnamed {
        let (item, head) = (try transaction.tree.leaf(origin), try transaction.tree.leaf(group.historyID(origin, .max)))
        guard item == nil, head == nil else { continue }
        try transaction.edit(row, nil)
        count += 1
      }
      return count
    }
  }
}

/// The items of a state with their former versions, and the versions without an item.
private struct VersionOwners {
  private(set) var owners: [(owner: Reference, isRemoved: Bool, versions: [FormerVersion])] = []
  private(set) var unnamed: [(row: Identifier, origin: Identifier, group: GroupKeys)] = []

  init(_ state: ProvenState, _ damaged: (VaultError) -> Void, _ isIncluded: (AccessGroup) -> Bool) throws {
    var named: Set<Identifier> = []
    var met: [(row: Identifier, origin: Identifier, group: GroupKeys)] = []
    // An item that does not open may own any of them.
    var isComplete = true
    func noteDamage(_ damage: VaultError) {
      isComplete = false
      damaged(damage)
    }
    // Without its group each row is damaged.
    let directory = try GroupDirectory(state, damaged: { _ in })
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
            if !former.isRemoved, isIncluded(group.group) { met.append((record.id, former.version.origin, group)) }
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
    if isComplete { unnamed = met.filter { !named.contains($0.row) } }
  }
}
