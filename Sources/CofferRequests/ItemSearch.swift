import SecretMemory
import VaultCore

/// A search for items with exactly these attributes. Attributes that are not given match any value.
struct ItemSearch {
  private let itemClass: ItemClass?
  let attributes: Attributes

  init(_ itemClass: ItemClass?, _ attributes: Attributes) {
    self.itemClass = itemClass
    self.attributes = attributes
  }

  /// The items that a search found, and what it met besides.
  struct Walk {
    /// Ordered by group, then by identifier.
    var entries: [Entry]
    var damaged: [VaultError] = []
    /// As `EntryList` has them.
    let unavailableCount: Int
    let lockedGroups: Set<AccessGroup>
    let hasUnknownGroups: Bool

    /// Opens all items of the vault.
    init(_ vault: borrowing Vault, where isIncluded: (Entry) -> Bool) throws {
      var damaged: [VaultError] = []
      let list = try vault.entries(where: isIncluded, damaged: { damaged.append($0) })
      (entries, unavailableCount) = (list.entries, list.unavailableCount)
      (lockedGroups, hasUnknownGroups, self.damaged) = (list.lockedGroups, list.hasUnknownGroups, damaged)
    }
  }

  /// Ordered by group as given; for all groups, `default` first. Items that a locked vault cannot open are left out.
  /// - Parameters:
  ///   - index: nil: walks over the vault.
  ///   - groups: nil: all groups.
  ///   - isAllowed: Called for each group.
  /// - Throws: `locked` if no item is left then, because an empty list would mean that there is no such item.
  func entries(
    in vault: borrowing Vault, _ index: ItemIndex?, _ groups: [AccessGroup]?, _ isAllowed: (AccessGroup) -> Bool
  ) throws -> Answer.Entries {
    let wanted = groups.map { Set($0) }
    func isWanted(_ group: AccessGroup) -> Bool { wanted?.contains(group) ?? isAllowed(group) }
    var found = Answer.Entries()
    let list =
      try index?.walk(for: self, in: vault, isWanted)
      ?? Walk(vault) { isWanted($0.reference.group) && matches($0.item) }
    for damage in list.damaged { found.append(damage) }
    found.unavailableCount = UInt64(list.unavailableCount)
    if let groups {
      let byGroup = Dictionary(grouping: list.entries, by: \.reference.group)
      found.entries = groups.flatMap { byGroup[$0] ?? [] }
    } else {
      found.entries = list.entries
    }
    // A group that others have made since may be any of those that are wanted.
    let isComplete = !list.hasUnknownGroups && !list.lockedGroups.contains(where: isWanted)
    guard isComplete || !found.entries.isEmpty else { throw KeychainError(.locked) }
    return found
  }

  func matches(_ item: Item) -> Bool {
    guard itemClass == nil || itemClass == item.itemClass else { return false }
    let absent = item.itemClass.primaryAttributes
    return attributes.allSatisfy { wanted in
      // An absent primary attribute is an empty one.
      let found = item.attributes[wanted.name] ?? absent.first { $0.name == wanted.name }?.absent
      return found == wanted.value
    }
  }

  /// The one item that can be meant, where all attributes that make one unique are said.
  var exactItem: Item? {
    guard let itemClass,
      !attributes.contains(where: { wanted in !itemClass.primaryAttributes.contains { $0.name == wanted.name } }),
      itemClass.primaryAttributes.allSatisfy({ attributes[$0.name] != nil })
    else { return nil }
    return Item(itemClass, attributes)
  }
}
