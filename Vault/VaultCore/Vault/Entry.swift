public import SecretMemory

/// Where an item lies: stays the same until the item is moved or one of its primary attributes changes.
public struct Reference: Hashable, Sendable {
  /// The group of the item.
  public let group: AccessGroup
  /// The identifier of the item's record.
  public let id: Identifier

  package init(group: AccessGroup, id: Identifier) { (self.group, self.id) = (group, id) }
}

/// An item as it lies in the vault.
public struct Entry: Equatable, Sendable {
  /// The reference by which the item is used.
  public let reference: Reference
  /// The item's attributes.
  public let item: Item
  /// The protection class.
  public let accessibility: Accessibility
  /// The generation that last wrote it.
  public let generation: UInt64

  /// The generation that made the value: the number of this version. Later ones may have renamed or moved the item.
  public let version: UInt64
  /// The former versions, newest first. Empty in an answer of an agent.
  package let former: [FormerVersion]

  package init(
    reference: Reference, item: Item, accessibility: Accessibility, generation: UInt64, version: UInt64? = nil,
    former: [FormerVersion] = []
  ) {
    (self.reference, self.item, self.accessibility, self.generation) = (reference, item, accessibility, generation)
    (self.version, self.former) = (version ?? generation, former)
  }
}

/// An item as it lies in the vault, opened as a whole.
public struct EntryWithSecret: ~Copyable, Sendable {
  /// The item without its secret.
  public let entry: Entry
  /// The secret.
  public let secret: Secret
}

/// The result of a walk over the vault.
public struct EntryList: Sendable {
  /// Ordered by group, then by identifier.
  public let entries: [Entry]
  /// Items of …ThisDevice classes that do not open here: another device's, or no device key was given.
  public let unavailableCount: Int
  /// The sealed size in bytes of all items of the visited groups, including those that are not in `entries`.
  public let byteCount: Int
  /// Groups of which items were left out because the vault is locked.
  public let lockedGroups: Set<AccessGroup>
  /// Whether there are items in groups of which a locked vault knows nothing: others have made them since.
  public let hasUnknownGroups: Bool
}
