package import SecretMemory
package import VaultCore

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
  /// - generation: Nil: removes the item whatever has been changed in it. Else as for `update`.
  /// - mustKeep: Whether it fails, and removes nothing, if the item could not be restored.
  case remove(Reference, generation: UInt64? = nil, mustKeep: Bool = false)
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
      case .remove(let reference, generation: _, mustKeep: _): (reference.group, reference.id)
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
      case .remove(let reference, generation: _, mustKeep: _): .removing(reference)
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
