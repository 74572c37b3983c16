import SecretMemory
package import VaultCore

/// An item of the Secret Service as the vault keeps it: a generic password, whose account is the last part of its path.
package struct StoredItem: Sendable {
  package static let service = "item"
  package static let contentType = "content-type"
  package static let plainText = "text/plain"

  package let entry: Entry
  package let collection: String
  package let id: String

  /// Returns nil if it was not made for the service.
  package init?(_ entry: Entry) {
    let item = entry.item
    guard let collection = CollectionGroup.name(of: entry.reference.group), item.itemClass == .genericPassword,
      item["service"] == Self.service, let id = item["account"], CollectionGroup.isElement(id)
    else { return nil }
    (self.entry, self.collection, self.id) = (entry, collection, id)
  }

  package var label: String { entry.item.label ?? "" }
  package var created: UInt64 { UInt64(max(0, entry.item.created?.secondsSince1970 ?? 0)) }
  package var modified: UInt64 { UInt64(max(0, entry.item.modified?.secondsSince1970 ?? 0)) }
  package var attributes: [String: String] { ServedContent(of: entry.item).attributes ?? [:] }

  /// libsecret takes text for text only if nothing follows the type.
  package var contentType: String {
    let type = entry.item[Self.contentType] ?? Self.plainText
    return type.hasPrefix(Self.plainText + ";") ? Self.plainText : type
  }

  /// The newest first. Times are in seconds, so the generation of the vault decides between items of one second.
  package static func isBefore(_ left: StoredItem, _ right: StoredItem) -> Bool {
    (left.modified, left.entry.generation) > (right.modified, right.entry.generation)
  }

  /// A new one, with a path of its own.
  package static func item(_ content: ServedContent, contentType: String) -> Item {
    var item = Item(service: service, account: newID())
    content.write(into: &item)
    set(contentType, of: &item)
    return item
  }

  /// The usual type is not kept.
  package static func set(_ type: String, of item: inout Item) { item[contentType] = type == plainText ? nil : type }

  private static func newID() -> String {
    let digits = Array("abcdefghijklmnopqrstuvwxyz234567")
    return String((0..<16).map { _ in digits[Int.random(in: 0..<32)] })
  }
}

/// Label and attributes of an item, as programs give them.
package struct ServedContent: Sendable {
  package static let maximumAttributes = 128
  package static let maximumNameByteCount = 250
  package static let maximumSecretByteCount = 1 << 20

  package var label: String?
  package var attributes: [String: String]?

  package init(label: String? = nil, attributes: [String: String]? = nil) { (self.label, self.attributes) = (label, attributes) }

  package init(of item: Item) {
    label = item.label
    var texts: [String: String] = [:]
    for (name, value) in item.attributes where name.hasPrefix(Item.userPrefix) {
      if case .text(let text) = value { texts[String(name.dropFirst(Item.userPrefix.count))] = text }
    }
    attributes = texts
  }

  /// The attributes by which an item is compared with those of another program. gnome-keyring sometimes has the schema of items without
  /// one among them, and sometimes not.
  package var name: [String: String] {
    (attributes ?? [:]).filter { $0.key != "xdg:schema" || $0.value != "org.freedesktop.Secret.Generic" }
  }

  /// Why an item cannot have it.
  package enum Misfit: Equatable, Sendable {
    case label
    case attributeCount(Int)
    case attributeName
    case attribute
  }

  package var misfit: Misfit? {
    if let label, label.utf8.count > Attributes.maximumValueByteCount { return .label }
    guard let attributes else { return nil }
    guard attributes.count <= Self.maximumAttributes else { return .attributeCount(attributes.count) }
    for (name, value) in attributes {
      guard !name.isEmpty, !name.hasControlCharacter else { return .attributeName }
      guard name.utf8.count <= Self.maximumNameByteCount, value.utf8.count <= Attributes.maximumValueByteCount else {
        return .attribute
      }
    }
    return nil
  }

  package func write(into item: inout Item) {
    if let label { item.label = label }
    guard let attributes else { return }
    for (name, _) in item.attributes where name.hasPrefix(Item.userPrefix) { item.attributes[name] = nil }
    for (name, value) in attributes { item.attributes[Item.userPrefix + name] = .text(value) }
  }
}
