package import VaultCore

/// A request about the groups themselves. `GroupService` carries it out, in the agent or in the process that has opened the vault.
package enum GroupRequest: Equatable, Sendable {
  /// Lists the groups, with the number of items in each.
  case list
  case create(AccessGroup)
  case rename(AccessGroup, to: AccessGroup)
  /// - withItems: Whether its items and grants go with it; a group that has some is refused otherwise.
  case remove(AccessGroup, withItems: Bool)

  package var kind: Request.Kind {
    switch self {
    case .list: .groups
    case .create: .createGroup
    case .rename: .renameGroup
    case .remove: .removeGroup
    }
  }

  package var group: AccessGroup? {
    switch self {
    case .list: nil
    case .create(let group), .rename(let group, to: _), .remove(let group, withItems: _): group
    }
  }
}
