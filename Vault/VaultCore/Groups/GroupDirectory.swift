package import SecretMemory

/// The groups of one proven state, by the identifier that their records carry. Proven to be all: a row that hides is a fault.
///
/// Of a locked vault those that it still knows; of others nothing can be said.
package struct GroupDirectory {
  private let isLocked: Bool
  private var groups: [Identifier: GroupKeys] = [:]

  /// - Parameter damaged: is told of each record that is missing, damaged or claims another group's identifier. It is left out if
  ///   that returns.
  /// - Throws: faults of the tree; what `damaged` throws.
  package init(_ state: ProvenState, damaged: (VaultError) throws -> Void = { throw $0 }) throws {
    isLocked = state.keys.isLocked
    if let kept = state.keys.kept {
      groups = try kept.groups(in: state)
      return
    }
    try state.forEachRecord(.group, damaged: damaged) { record, meta in
      guard meta.kind == .group else { return }
      let group = try state.openGroup(record)
      guard groups[group.groupID] == nil else { throw VaultError(.groupMalformed, "two groups with one identifier") }
      groups[group.groupID] = group
    }
  }

  /// Nil is a proven absence.
  /// - Throws: `locked` for one that a locked vault does not know.
  package func group(_ id: Identifier) throws(VaultError) -> GroupKeys? {
    if let group = groups[id] { return group }
    if isLocked { throw VaultError(.locked) }
    return nil
  }

  /// Ordered by name.
  package var all: [GroupKeys] { groups.values.sorted { $0.group < $1.group } }
}
