public import VaultCore

/// Which items are meant. What is not said does not matter.
public struct KeychainQuery: Sendable, Equatable {
  public var itemClass: ItemClass?
  /// Nil: all groups in which the caller may look.
  public var group: AccessGroup?
  /// Attributes that an item has exactly so.
  public var attributes: Attributes

  public init(_ itemClass: ItemClass? = nil, group: AccessGroup? = nil, attributes: Attributes = Attributes()) {
    self.itemClass = itemClass
    self.group = group
    self.attributes = attributes
  }

  /// Generic passwords.
  public init(service: String?, account: String? = nil, group: AccessGroup? = nil) {
    self.init(.genericPassword, group: group)
    self["service"] = service
    self["account"] = account
  }

  /// A text attribute.
  public subscript(name: String) -> String? {
    get { if case .text(let text)? = attributes[name] { text } else { nil } }
    set { attributes[name] = newValue.map { .text($0) } }
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
