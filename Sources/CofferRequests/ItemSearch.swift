import SecretMemory
import VaultCore

/// A search for items with exactly these attributes. Attributes that are not given match any value.
struct ItemSearch {
  private let itemClass: ItemClass?
  private let attributes: Attributes

  init(_ itemClass: ItemClass?, _ attributes: Attributes) {
    self.itemClass = itemClass
    self.attributes = attributes
  }

  /// Ordered by group as given; for all groups, `default` first. Walks over the vault. Items that a locked vault cannot open are
  /// left out.
  /// - Parameters:
  ///   - groups: nil: all groups.
  ///   - isAllowed: Called for each group.
  /// - Throws: `locked` if no item is left then, because an empty list would mean that there is no such item.
  func entries(
    in vault: borrowing Vault, _ groups: [AccessGroup]?, _ isAllowed: (AccessGroup) -> Bool
  ) throws -> Answer.Entries {
    let wanted = groups.map { Set($0) }
    func isWanted(_ group: AccessGroup) -> Bool { wanted?.contains(group) ?? isAllowed(group) }
    var found = Answer.Entries()
    let list = try vault.entries(
      where: { isWanted($0.reference.group) && matches($0.item) },
      damaged: { found.append($0) })
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
