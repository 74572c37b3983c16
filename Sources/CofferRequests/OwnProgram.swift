package import AccessRights
package import VaultCore

/// A program of Coffer with rights of its own, which the agent knows by its file, as it knows `coffer`.
package enum OwnProgram: String, CaseIterable, Sendable {
  case sshAgent = "coffer-ssh-agent"

  /// The requests about items that it may send. It needs no others.
  package var operations: Set<Request.Kind> {
    switch self {
    case .sshAgent: [.items, .secret]
    }
  }

  /// The only groups that it may use.
  package var groups: [Entitlements.Group] {
    switch self {
    case .sshAgent: [Entitlements.Group(.sshKeys, [.list, .read])]
    }
  }
}

extension AccessGroup {
  /// The group of the keys that `coffer ssh add` keeps.
  package static let sshKeys = AccessGroup(unchecked: "ssh")
}
