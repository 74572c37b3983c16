import VaultCore

/// Which items are meant: those with exactly these attributes. What is not said does not matter.
struct ItemSearch {
  private let itemClass: ItemClass?
  private let attributes: Attributes

  init(_ itemClass: ItemClass?, _ attributes: Attributes) {
    self.itemClass = itemClass
    self.attributes = attributes
  }

  /// Ordered by group as they are given; for all groups, `default` first. What a locked vault cannot open is left out.
  /// - Parameters:
  ///   - groups: Nil: all that there are.
  ///   - isAllowed: Of each group.
  /// - Throws: `locked` where nothing is left then: an empty list would say that there is no such item.
  func entries(
    in vault: borrowing Vault, _ groups: [AccessGroup]?, _ isAllowed: (AccessGroup) -> Bool
  ) throws -> [Entry] {
    let (found, isComplete) = try exactItem.map { try exact($0, in: vault, groups, isAllowed) } ?? walk(vault, groups, isAllowed)
    guard isComplete || !found.isEmpty else { throw KeychainError(.locked) }
    return found
  }

  /// One look-up in each group.
  private func exact(
    _ item: Item, in vault: borrowing Vault, _ groups: [AccessGroup]?, _ isAllowed: (AccessGroup) -> Bool
  ) throws -> (found: [Entry], isComplete: Bool) {
    var (found, isComplete): ([Entry], Bool) = ([], true)
    for group in try groups ?? [.standard] + vault.groups().filter({ $0 != .standard && isAllowed($0) }) {
      do {
        guard try vault.contains(group), let entry = try vault.entry(item, in: group) else { continue }
        found.append(entry)
      } catch VaultError.Code.locked {
        isComplete = false
      }
    }
    return (found, isComplete)
  }

  private func walk(
    _ vault: borrowing Vault, _ groups: [AccessGroup]?, _ isAllowed: (AccessGroup) -> Bool
  ) throws -> (found: [Entry], isComplete: Bool) {
    let wanted = groups.map { Set($0) }
    func isWanted(_ group: AccessGroup) -> Bool { wanted?.contains(group) ?? isAllowed(group) }
    let list = try vault.entries { isWanted($0.reference.group) && matches($0.item) }
    // A group that others have made since may be any of those that are wanted.
    let isComplete = !list.hasUnknownGroups && !list.lockedGroups.contains(where: isWanted)
    guard let groups else { return (list.entries, isComplete) }
    let found = Dictionary(grouping: list.entries, by: \.reference.group)
    return (groups.flatMap { found[$0] ?? [] }, isComplete)
  }

  private func matches(_ item: Item) -> Bool {
    guard itemClass == nil || itemClass == item.itemClass else { return false }
    let absent = item.itemClass.primaryAttributes
    return attributes.allSatisfy { wanted in
      // An absent primary attribute is an empty one.
      let found = item.attributes[wanted.name] ?? absent.first { $0.name == wanted.name }?.absent
      return found == wanted.value
    }
  }

  /// The one item that can be meant, where all attributes that make one unique are said.
  private var exactItem: Item? {
    guard let itemClass,
      !attributes.contains(where: { wanted in !itemClass.primaryAttributes.contains { $0.name == wanted.name } }),
      itemClass.primaryAttributes.allSatisfy({ attributes[$0.name] != nil })
    else { return nil }
    return Item(itemClass, attributes)
  }
}
