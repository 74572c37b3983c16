import VaultCore

/// Which items are meant: those with exactly these attributes. What is not said does not matter.
struct ItemSearch {
  private let itemClass: ItemClass?
  private let attributes: Attributes

  init(_ itemClass: ItemClass?, _ attributes: Attributes) {
    self.itemClass = itemClass
    self.attributes = attributes
  }

  /// Ordered by group as they are given; for all groups, `default` first.
  /// - Parameters:
  ///   - groups: Nil: all that there are.
  ///   - isAllowed: Of each group.
  func entries(
    in vault: borrowing Vault, _ groups: [AccessGroup]?, _ isAllowed: (AccessGroup) -> Bool
  ) throws -> [Entry] {
    if let item = exactItem {
      let groups = try groups ?? [.standard] + vault.groups().filter { $0 != .standard && isAllowed($0) }
      return try groups.compactMap { try vault.contains($0) ? try vault.entry(item, in: $0) : nil }
    }
    let wanted = groups.map { Set($0) }
    let entries = try vault.entries {
      (wanted?.contains($0.reference.group) ?? isAllowed($0.reference.group)) && matches($0.item)
    }.entries
    guard let groups else { return entries }
    let found = Dictionary(grouping: entries, by: \.reference.group)
    return groups.flatMap { found[$0] ?? [] }
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
