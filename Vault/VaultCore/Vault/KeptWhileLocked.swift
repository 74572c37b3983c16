import SecretMemory

/// The state that remains in a locked vault: the keys of its groups that stay, and the rules about apps.
///
/// The records that they come from are sealed under a key that was wiped, but the tree still proves each of them. So a record
/// that another process has changed or removed since is noticed, and its copy here is dropped.
struct KeptWhileLocked {
  private var groups: [AccessGroup: (record: Identifier, leaf: Digest, keys: GroupKeys)] = [:]
  private var rules: [(record: Identifier, leaf: Digest, rule: AccessRule)] = []

  private(set) var limits = Limits()

  /// Nothing.
  init() {}

  /// Groups and rules whose records are missing or damaged are left out: that takes away, and gives nothing.
  /// - Throws: faults of the tree; what the store throws; errors of locked memory.
  init(_ state: ProvenState) throws {
    func ignore(_: VaultError) {}
    try state.forEachRecord(.group, damaged: ignore) { record, meta in
      let leaf = state.keys.integrity.leaf(record)
      if meta.kind == .group {
        let group = try state.openGroup(record)
        groups[group.group] = (record.id, leaf, try group.locked(keys: state.keys))
      } else if meta.kind == .accessRule, let rule = try state.openAccessRule(record) {
        rules.append((record.id, leaf, rule))
      }
    }
    limits = try state.limits(damaged: ignore)
  }

  // MARK: Groups

  /// nil is a proven absence: it was removed.
  /// - Throws: `locked` for one that was not there, or was changed since: its items may have other names and keys.
  func group(_ group: AccessGroup, in state: ProvenState) throws -> GroupKeys? {
    guard let known = groups[group] else { throw VaultError(.locked, group.name) }
    guard let leaf = try state.tree.leaf(known.record) else { return nil }
    guard leaf == known.leaf else { throw VaultError(.locked, "\(group.name): changed by another process") }
    return known.keys
  }

  /// Those that were not changed, by the identifier that their records carry.
  func groups(in state: ProvenState) throws -> [Identifier: GroupKeys] {
    var current: [Identifier: GroupKeys] = [:]
    for known in groups.values where try state.tree.leaf(known.record) == known.leaf { current[known.keys.groupID] = known.keys }
    return current
  }

  func name(ofGroup id: Identifier) -> AccessGroup? { groups.first { $0.value.keys.groupID == id }?.key }

  // MARK: Rules

  /// Those that were not changed.
  func rules(in state: ProvenState) throws -> [AccessRule] {
    try rules.compactMap { try state.tree.leaf($0.record) == $0.leaf ? $0.rule : nil }
  }

  /// Returns nil if the rule is proven to be absent: another process has removed it.
  /// - Throws: `locked` for one that was not there, or was changed since.
  func rule(_ name: AccessRule.Name, in state: ProvenState) throws -> AccessRule? {
    for (record, leaf, rule) in rules where rule.name == name {
      guard let now = try state.tree.leaf(record) else { return nil }
      if now == leaf { return rule }
    }
    throw VaultError(.locked, name.application)
  }
}
