/// Where an item lies: stays the same until the item is moved or one of its primary attributes changes.
public struct Reference: Hashable, Sendable {
  public let group: AccessGroup
  public let id: Identifier

  package init(group: AccessGroup, id: Identifier) { (self.group, self.id) = (group, id) }
}

/// An item as it lies in the vault.
public struct Entry: Equatable, Sendable {
  public let reference: Reference
  public let item: Item
  public let accessibility: Accessibility
  /// The generation that last wrote it.
  public let generation: UInt64

  package init(reference: Reference, item: Item, accessibility: Accessibility, generation: UInt64) {
    (self.reference, self.item, self.accessibility, self.generation) = (reference, item, accessibility, generation)
  }
}

/// An item as it lies in the vault, opened as a whole.
public struct EntryWithSecret: ~Copyable, Sendable {
  public let entry: Entry
  public let secret: Secret
}

/// What a walk over the vault found.
public struct EntryList: Sendable {
  /// Ordered by group, then by identifier.
  public let entries: [Entry]
  /// Items of …ThisDevice classes that do not open here: another device's, or no device key was given.
  public let unavailableCount: Int
  /// What the items of the groups that were looked at take, sealed, in bytes; also those that are not in `entries`.
  public let byteCount: Int
  /// Groups of which items were left out because the vault is locked.
  public let lockedGroups: Set<AccessGroup>
  /// Whether there are items in groups of which a locked vault knows nothing: others have made them since.
  public let hasUnknownGroups: Bool
}
