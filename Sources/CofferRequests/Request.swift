package import AccessRights
package import SecretMemory
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

/// A request about items. `ItemService` carries it out, in the agent or in the process that has opened the vault.
package enum ItemRequest: ~Copyable, Sendable {
  case entitlements
  case items(ItemClass?, AccessGroup?, Attributes)
  case contains(AccessGroup)
  case entry(Reference)
  /// - purpose: Shown to the owner, if the owner is asked.
  case secret(Reference, purpose: String)
  case add(Item, Secret, AccessGroup?, Accessibility, installBound: Bool)
  /// Several in one commit: all of them, or none.
  case addAll(NewItems, AccessGroup?, Accessibility)
  /// Replaces the item if it still is of this generation. Without a secret or a class the item keeps its own.
  case update(Reference, generation: UInt64, Item, Secret?, Accessibility?)
  /// Likewise, and into a group.
  case move(Reference, generation: UInt64, Item, AccessGroup)
  /// - mustKeep: Whether it fails, and removes nothing, if the item could not be restored.
  case remove(Reference, mustKeep: Bool = false)
  /// Removes an item by its primary attributes, because one that cannot be read has no known reference.
  case discard(Item, AccessGroup, mustKeep: Bool = false)
  /// The versions of an item, also of a removed one: without values.
  case history(Reference)
  /// The removed items that can be restored, by the rules of `items`.
  case removed(ItemClass?, AccessGroup?, Attributes)
  /// The secret of one version.
  case version(Reference, UInt64, purpose: String)
  /// Makes a version the present one: nil is the newest former one.
  case restore(Reference, UInt64?)
  /// Removes versions for good.
  case purge(Reference, PurgeScope)
  /// Removes what is beyond the limits of the vault, or all removed items.
  case purgeExpired(AccessGroup?, removed: Bool)

  package enum PurgeScope: Equatable, Sendable {
    case version(UInt64)
    /// All former versions; of a removed item everything.
    case former
    /// The item too.
    case item
  }

  package var kind: Request.Kind {
    borrowing get {
      switch self {
      case .entitlements: .entitlements
      case .items: .items
      case .contains: .contains
      case .entry: .entry
      case .secret: .secret
      case .add: .add
      case .addAll: .addAll
      case .update: .update
      case .move: .move
      case .remove: .remove
      case .discard: .discard
      case .history: .history
      case .removed: .removed
      case .version: .version
      case .restore: .restore
      case .purge: .purge
      case .purgeExpired: .purgeExpired
      }
    }
  }

  /// The group that it concerns, and the item if it names one. A move concerns the group in which the item lies.
  package var subject: (group: AccessGroup?, item: Identifier?) {
    borrowing get {
      switch self {
      case .entitlements: (nil, nil)
      case .items(_, let group, _): (group, nil)
      case .contains(let group): (group, nil)
      case .entry(let reference): (reference.group, reference.id)
      case .secret(let reference, purpose: _): (reference.group, reference.id)
      case .add(_, _, let group, _, installBound: _): (group, nil)
      case .addAll(_, let group, _): (group, nil)
      case .update(let reference, generation: _, _, _, _): (reference.group, reference.id)
      case .move(let reference, generation: _, _, _): (reference.group, reference.id)
      case .remove(let reference, mustKeep: _): (reference.group, reference.id)
      case .discard(_, let group, mustKeep: _): (group, nil)
      case .history(let reference): (reference.group, reference.id)
      case .removed(_, let group, _): (group, nil)
      case .version(let reference, _, purpose: _): (reference.group, reference.id)
      case .restore(let reference, _): (reference.group, reference.id)
      case .purge(let reference, _): (reference.group, reference.id)
      case .purgeExpired(let group, removed: _): (group, nil)
      }
    }
  }

  /// The change that it is going to make, as far as that is known before.
  package enum Intention: Sendable {
    case nothing
    case adding
    case addingAll(Int)
    /// The item may have another reference afterwards.
    case updating(Reference)
    case moving(Reference)
    case removing(Reference)
    /// An item that cannot be read has no known reference.
    case removingUnread
  }

  package var intention: Intention {
    borrowing get {
      switch self {
      case .entitlements: .nothing
      case .items: .nothing
      case .contains: .nothing
      case .entry: .nothing
      case .secret: .nothing
      case .add: .adding
      case .addAll(let new, _, _): .addingAll(new.items.count)
      case .update(let reference, generation: _, _, _, _): .updating(reference)
      case .move(let reference, generation: _, _, _): .moving(reference)
      case .remove(let reference, mustKeep: _): .removing(reference)
      case .discard: .removingUnread
      case .history: .nothing
      case .removed: .nothing
      case .version: .nothing
      case .restore(let reference, _): .updating(reference)
      case .purge(let reference, .item): .removing(reference)
      case .purge: .nothing
      case .purgeExpired: .nothing
      }
    }
  }

  /// A copy of a request that only reads, and may be carried out twice.
  package static func reading(_ request: borrowing ItemRequest) -> ItemRequest? {
    switch request {
    case .entitlements: .entitlements
    case .items(let itemClass, let group, let attributes): .items(itemClass, group, attributes)
    case .contains(let group): .contains(group)
    case .entry(let reference): .entry(reference)
    case .secret(let reference, let purpose): .secret(reference, purpose: purpose)
    case .add: nil
    case .addAll: nil
    case .update: nil
    case .move: nil
    case .remove: nil
    case .discard: nil
    case .history(let reference): .history(reference)
    case .removed(let itemClass, let group, let attributes): .removed(itemClass, group, attributes)
    case .version(let reference, let number, let purpose): .version(reference, number, purpose: purpose)
    case .restore: nil
    case .purge: nil
    case .purgeExpired: nil
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
