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
      try state.forEachRecordOfGroups { record, meta in
        guard contents[record.group] != nil else { throw VaultError(.unknownGroup) }
        switch meta.kind {
        case .item: contents[record.group]?.itemCounts[meta.accessibility, default: 0] += 1
        default: contents[record.group]?.formerCount += 1
        }
      }
      let grants = try state.grants()
      for group in groups {
        contents[group.groupID]?.grantees = grants.filter { $0.isGrant(of: group.group) }.compactMap(\.application).sorted()
      }
      return groups.compactMap { contents[$0.groupID] }
    }
  }

  /// Gives a group another name. Its gid and keys stay, so no item is sealed anew; grants follow.
  /// - Throws: `groupNotFound`, `groupExists`, `groupRequired` for `default`, `locked`; integrity errors.
  package mutating func renameGroup(_ old: AccessGroup, to new: AccessGroup) throws {
    try transaction { transaction in
      guard old != .standard else { throw VaultError(.groupRequired) }
      let group = try transaction.group(old)
      guard try !transaction.contains(new) else { throw VaultError(.groupExists, new.name) }
      try transaction.remove(group)
      try transaction.put(group.renamed(new, version: transaction.generation))
      for grant in try transaction.state.grants() where grant.isGrant(of: old) {
        var attributes = grant.attributes
        attributes["group"] = .text(new.name)
        try transaction.removeRule(grant.name)
        try transaction.putRule(attributes)
      }
    }
  }

  /// Removes a group, after a walk that proves which records are in it.
  /// - Parameter withItems: Whether its items, their former versions and the grants go with it.
  /// - Throws: `groupNotFound`, `groupRequired` for `default`, `locked`; `groupNotEmpty` and `groupGranted` without `withItems`;
  ///   integrity errors, because a damaged record could be of the group.
  package mutating func removeGroup(_ group: AccessGroup, withItems: Bool) throws {
    try transaction { transaction in
      guard group != .standard else { throw VaultError(.groupRequired) }
      try transaction.keys.checkUnlocked()
      let keys = try transaction.group(group)
      var records: [Identifier] = []
      try transaction.state.forEachRecordOfGroups { record, _ in
        if record.group == keys.groupID { records.append(record.id) }
      }
      let grants = try transaction.state.grants().filter { $0.isGrant(of: group) }
      if !withItems {
        guard records.isEmpty else { throw VaultError(.groupNotEmpty) }
        guard grants.isEmpty else { throw VaultError(.groupGranted) }
      }
      for record in records { try transaction.edit(record, nil) }
      for grant in grants { try transaction.removeRule(grant.name) }
      try transaction.remove(keys)
    }
  }
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

  fileprivate func grants() throws -> [AccessRule] {
    var grants: [AccessRule] = []
    try forEachRecord(.accessRule, damaged: Self.refuse) { record, meta in
      if meta.kind == .accessRule, let rule = try openAccessRule(record), rule.kind == .grant { grants.append(rule) }
    }
    return grants
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
