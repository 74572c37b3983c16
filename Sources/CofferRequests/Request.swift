package import AccessRights
package import VaultCore

/// A request to a keychain. No request carries a key, and none names its sender: the agent identifies the program itself.
package enum Request: ~Copyable, Sendable {
  case session(SessionRequest)
  case items(ItemRequest)
  case vault(VaultRequest)
  case apps(AppRequest)
  case groups(GroupRequest)
  case upkeep(UpkeepRequest)

  package var kind: Kind {
    borrowing get {
      switch self {
      case .session(let request): request.kind
      case .items(let request): request.kind
      case .vault(let request): request.kind
      case .apps(let request): request.kind
      case .groups(let request): request.kind
      case .upkeep(let request): request.kind
      }
    }
  }

  /// For the audit log: the part that its kind and its subject leave out.
  package var note: String {
    borrowing get {
      switch self {
      case .session: ""
      case .vault: ""
      case .items: ""
      case .apps: ""
      case .groups(let request): request.note
      case .upkeep(let request): request.note
      }
    }
  }

  /// The group that it concerns, and the item if it names one.
  package var subject: (group: AccessGroup?, item: Identifier?) {
    borrowing get {
      switch self {
      case .session: (nil, nil)
      case .vault: (nil, nil)
      case .items(let request): request.subject
      case .apps(let request): (request.group, nil)
      case .groups(let request): (request.group, nil)
      case .upkeep: (nil, nil)
      }
    }
  }
}

/// A request about the agent and the state of its vault.
package enum SessionRequest: ~Copyable, Sendable {
  case status
  /// Reads what the vault's file contains without a key: a client derives its key for one of the slots in it.
  case inspect
  /// - Credential: Derived for one of these slots.
  /// - display: The owner's display or terminal, for later questions: the texts of `Display.fields`.
  case unlock(Credential, display: Attributes = Attributes())
  case lock
  case end
  case watch

  package var kind: Request.Kind {
    borrowing get {
      switch self {
      case .status: .status
      case .inspect: .inspect
      case .unlock: .unlock
      case .lock: .lock
      case .end: .end
      case .watch: .watch
      }
    }
  }
}

/// A request about the vault as a whole and its key slots, for an agent that keeps the file where its user cannot read it. As everywhere
/// here, the client has derived the credentials.
package enum VaultRequest: ~Copyable, Sendable {
  /// Makes the vault if there is none.
  /// - recovery: A recovery key that opens it too.
  case create(Credential, KDFParameters, recovery: Credential?)
  /// - by: Proves in this very request that the owner sends it.
  case addSlot(Credential, KDFParameters, by: Credential)
  case replaceSlot(Identifier, Credential, KDFParameters, by: Credential)
  case removeSlot(Identifier, by: Credential)

  package var kind: Request.Kind {
    borrowing get {
      switch self {
      case .create: .create
      case .addSlot: .addSlot
      case .replaceSlot: .replaceSlot
      case .removeSlot: .removeSlot
      }
    }
  }
}

/// A request of the owner about apps. Executables lie with the user; the vault and the agent keep the rest.
package enum AppRequest: Equatable, Sendable {
  /// Lists all apps that the vault knows.
  case pins
  /// The bytes of a signed manifest.
  case install([UInt8])
  case uninstall(String)
  /// Counts the items that `forget` would remove.
  case itemCount(String)
  case forget(String)
  /// Grants to an app, or to a program that is none. Nil: all.
  case grants(String?)
  /// The agent sets the time.
  case grant(String, AccessGroup, Entitlements.Rights, asksForConfirmation: Bool)
  case revoke(String, AccessGroup)
  /// Lists the leases to which the owner has agreed.
  case leases
  case endLease(UInt64)
  /// Lists the files of the agent's audit log.
  case log
  /// Reads bytes of one of them.
  /// - first: The number of the first entry of the file.
  case logPart(ring: String, first: UInt64, offset: UInt64)

  package var kind: Request.Kind {
    switch self {
    case .pins: .pins
    case .install: .install
    case .uninstall: .uninstall
    case .itemCount: .itemCount
    case .forget: .forget
    case .grants: .grants
    case .grant: .grant
    case .revoke: .revoke
    case .leases: .leases
    case .endLease: .endLease
    case .log: .log
    case .logPart: .logPart
    }
  }

  package var group: AccessGroup? {
    switch self {
    case .grant(_, let group, _, asksForConfirmation: _), .revoke(_, let group): group
    case .pins, .install, .uninstall, .itemCount, .forget, .grants, .leases, .endLease, .log, .logPart: nil
    }
  }
}
