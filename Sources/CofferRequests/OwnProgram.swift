package import AccessRights
package import VaultCore

/// A program of Coffer with rights of its own, which the agent knows by its file, as it knows `coffer`.
package enum OwnProgram: String, CaseIterable, Sendable {
  case sshAgent = "coffer-ssh-agent"
  case secretService = "coffer-secrets"
  case sync = "coffer-sync"

  /// The requests about items that it may send. It needs no others.
  package var operations: Set<Request.Kind> {
    switch self {
    case .sshAgent: [.items, .secret]
    // Former versions and removed items are for the owner and the command.
    case .secretService: [.items, .entry, .secret, .add, .update, .remove, .discard, .watch]
    case .sync: [.items, .contains, .entry, .secret, .add, .addAll, .update, .remove, .discard, .purge, .purgeExpired, .watch]
    }
  }

  package enum Groups: Sendable {
    case these([Entitlements.Group])
    /// The group of this name, and those whose names begin with it and a slash.
    case below(AccessGroup)
    /// Those of the command: each program of the user can start both.
    case ofCommand
  }

  /// The only groups that it may use.
  package var groups: Groups {
    switch self {
    case .sshAgent: .these([Entitlements.Group(.sshKeys, [.list, .read])])
    case .secretService: .below(.secretService)
    case .sync: .ofCommand
    }
  }
}

extension AccessGroup {
  /// The group of the keys that `coffer ssh add` keeps.
  package static let sshKeys = AccessGroup(unchecked: "ssh")
  /// The collections of the Secret Service; the items of one are in the group of its name below this one.
  package static let secretService = AccessGroup(unchecked: "secret-service")
}
