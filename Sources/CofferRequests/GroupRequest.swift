package import VaultCore

/// A request about the groups themselves. `GroupService` carries it out, in the agent or in the process that has opened the vault.
package enum GroupRequest: Equatable, Sendable {
  /// Lists the groups, with the number of items in each.
  case list
  case create(AccessGroup)
  case rename(AccessGroup, to: AccessGroup)
  /// - asOf: Its items and grants go with it, unless something in it is newer than this generation of the vault. nil: a group that has
  ///   some is refused.
  case remove(AccessGroup, withItemsAsOf: UInt64?)

  package var kind: Request.Kind {
    switch self {
    case .list: .groups
    case .create: .createGroup
    case .rename: .renameGroup
    case .remove: .removeGroup
    }
  }

  /// For the audit log; empty if the verb and the group are all.
  package var note: String {
    switch self {
    case .list, .create, .remove(_, withItemsAsOf: nil): ""
    case .rename(_, let new): "to \(new.name)"
    case .remove: "with items"
    }
  }

  package var group: AccessGroup? {
    switch self {
    case .list: nil
    case .create(let group), .rename(let group, to: _), .remove(let group, withItemsAsOf: _): group
    }
  }
}
