public import VaultCore

/// A search for items. Attributes that are not given match any value.
public struct KeychainQuery: Sendable, Equatable {
  /// The class; nil for all classes.
  public var itemClass: ItemClass?
  /// Nil: all groups in which the caller may look.
  public var group: AccessGroup?
  /// Attributes that an item has exactly so.
  public var attributes: Attributes

  /// Items of a class, a group and with attributes.
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
}
