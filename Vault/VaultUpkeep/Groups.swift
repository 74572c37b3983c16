import SecretMemory
package import VaultCore

/// A group, and how much is in it. Nothing is opened for that: group, kind and class of a record are proven in clear.
package struct GroupContents: Equatable, Sendable {
  package let group: AccessGroup
  /// Items by protection class, also those that do not open here. A class without items is absent.
  package var itemCounts: [Accessibility: UInt64] = [:]
  /// Former versions of items.
  package var formerCount: UInt64 = 0
  /// The programs to which something in the group is granted, in order.
  package var grantees: [String] = []
  /// How far a re-key has come that was not finished.
  package var rekey: RekeyStatus?
  /// The generation of the vault at which this was found.
  package var generation: UInt64 = 0

  package init(_ group: AccessGroup) { self.group = group }

  package var itemCount: UInt64 { itemCounts.values.reduce(0, +) }
}

extension Vault {
  /// All groups, ordered by name: proven to be all, and their counts complete.
  /// - Throws: `locked`; integrity errors, because the group of a damaged record is not known.
  package borrowing func groupContents() throws -> [GroupContents] {
    try reading { state, _ in
      try state.keys.checkUnlocked()
      let groups = try GroupDirectory(state).all
      var contents = Dictionary(uniqueKeysWithValues: groups.map { ($0.groupID, GroupContents($0.group)) })
      for group in groups {
        contents[group.groupID]?.generation = state.header.generation
        if group.isBeingReplaced { contents[group.groupID]?.rekey = RekeyStatus(group: group.group, done: 0, total: 0) }
      }
      try state.forEachRecordOfGroups { record, meta in
        guard contents[record.group] != nil else { throw VaultError(.unknownGroup) }
        if let group = groups.first(where: { $0.groupID == record.group }) {
          contents[record.group]?.rekey?.total += 1
          if !group.isReplaced(meta.accessibility, epoch: meta.epoch) { contents[record.group]?.rekey?.done += 1 }
        }
        switch meta.kind {
        case .item: contents[record.group]?.itemCounts[meta.accessibility, default: 0] += 1
        default: contents[record.group]?.formerCount += 1
        }
      }
      let grants = try state.accessRules(.grant).map(\.rule)
      for group in groups {
        contents[group.groupID]?.grantees = grants.filter { $0.isGrant(of: group.group) }.compactMap(\.application).sorted()
      }
      return groups.compactMap { contents[$0.groupID] }
    }
  }

  /// The sealed size in bytes of the former versions and removed items of a group: in clear, and proven. Damaged records are left out. A walk
  /// over all former versions.
  /// - Throws: `groupNotFound`; faults of the tree.
  package borrowing func formerByteCount(in group: AccessGroup) throws -> Int {
    try reading { state, keyring in
      let wanted = try keyring.existing(group, in: state).groupID
      var count = 0
      try state.forEachRecord(.history, damaged: { _ in }) { record, _ in
        if record.group == wanted { count += record.attributes.count + record.secretCount }
      }
      return count
    }
  }

  /// As `Transaction.renameGroup`, in a commit of its own.
  /// - Throws: The errors of `Transaction.renameGroup`; the errors of the store.
  package mutating func renameGroup(_ old: AccessGroup, to new: AccessGroup) throws {
    try transaction { try $0.renameGroup(old, to: new) }
  }

  /// As `Transaction.removeGroup`, in a commit of its own.
  /// - Throws: The errors of `Transaction.removeGroup`; the errors of the store.
  package mutating func removeGroup(_ group: AccessGroup, withItems: Bool, asOf newest: UInt64 = .max) throws {
    try transaction { try $0.removeGroup(group, withItems: withItems, asOf: newest) }
  }
}

extension Transaction {
  /// Gives a group another name. Its gid and keys stay, so no item is sealed anew; grants follow.
  /// - Throws: `groupNotFound`, `groupExists`, `groupRequired` for `default`, `locked`; integrity errors.
  package mutating func renameGroup(_ old: AccessGroup, to new: AccessGroup) throws {
    guard old != .standard else { throw VaultError(.groupRequired) }
    let group = try group(old)
    guard try !contains(new) else { throw VaultError(.groupExists, new.name) }
    try remove(group)
    try put(group.renamed(new, version: generation))
    for (grant, _) in try state.accessRules(.grant) where grant.isGrant(of: old) {
      var attributes = grant.attributes
      attributes["group"] = .text(new.name)
      try removeRule(grant.name)
      try putRule(attributes)
    }
  }

  /// Removes a group, after a walk that proves which records are in it.
  /// - Parameters:
  ///   - withItems: Whether its items, their former versions and the grants go with it.
  ///   - newest: The generation of the vault at which the owner has seen what is in the group.
  /// - Throws: `groupNotFound`, `groupRequired` for `default`, `locked`; `groupNotEmpty` and `groupGranted` without `withItems`;
  ///   `groupChanged` if the group, or something in it, is newer than `newest`; integrity errors, because a damaged record could be of the
  ///   group.
  package mutating func removeGroup(_ group: AccessGroup, withItems: Bool, asOf newest: UInt64 = .max) throws {
    guard group != .standard else { throw VaultError(.groupRequired) }
    try keys.checkUnlocked()
    let keys = try self.group(group)
    var (records, isNewer) = ([Identifier](), false)
    try state.forEachRecordOfGroups { record, meta in
      guard record.group == keys.groupID else { return }
      records.append(record.id)
      if meta.version > newest { isNewer = true }
    }
    let grants = try state.accessRules(.grant).filter { $0.rule.isGrant(of: group) }
    if !withItems {
      guard records.isEmpty else { throw VaultError(.groupNotEmpty) }
      guard grants.isEmpty else { throw VaultError(.groupGranted) }
    }
    // An empty group may have been made since, and another one of this name removed.
    guard !isNewer, keys.version <= newest, grants.allSatisfy({ $0.version <= newest }) else { throw VaultError(.groupChanged) }
    for record in records { try edit(record, nil) }
    for (grant, _) in grants { try removeRule(grant.name) }
    try remove(keys)
  }

  /// The pins of apps, as this transaction has found them.
  /// - Throws: integrity errors.
  package func pinRules() throws -> [AccessRule] { try state.accessRules(.pin).map(\.rule) }
}

extension ProvenState {
  /// Each record that belongs to a group: items and their former versions.
  /// - Throws: faults of the tree and of a record; what `body` throws.
  fileprivate func forEachRecordOfGroups(_ body: (RecordHead, RecordMeta) throws -> Void) throws {
    for kind in [RecordKind.item, .history] {
      try forEachRecord(kind, damaged: Self.refuse, body)
    }
  }

  private static func refuse(_ damage: VaultError) throws { throw damage }

  /// - Returns: The rules of a kind, with the generations of their writes.
  fileprivate func accessRules(_ kind: AccessRule.Kind) throws -> [(rule: AccessRule, version: UInt64)] {
    var rules: [(rule: AccessRule, version: UInt64)] = []
    try forEachRecord(.accessRule, damaged: Self.refuse) { record, meta in
      guard meta.kind == .accessRule, let rule = try openAccessRule(record), rule.kind == kind else { return }
      rules.append((rule, meta.version))
    }
    return rules
  }
}

extension AccessRule {
  fileprivate var application: String? {
    if case .text(let application)? = attributes["application"] { application } else { nil }
  }

  fileprivate func isGrant(of group: AccessGroup) -> Bool {
    guard case .text(let name)? = attributes["group"], let named = try? AccessGroup(name) else { return false }
    return named == group
  }
}
