import Coffer
import CofferRequests
import MessageBus
import SecretMemory
import VaultCore

/// The items of the collections, in the agent's vault.
struct ItemStore: Sendable {
  static let maximumAttributes = 128
  static let maximumNameByteCount = 250
  static let maximumSecretByteCount = 1 << 20

  let keychain: Keychain

  // MARK: Reading

  /// All that have these attributes, the newest first.
  /// - Parameter collection: nil: in all collections.
  func items(with attributes: [String: String], in collection: String?) throws -> [StoredItem] {
    var query = KeychainQuery(.genericPassword, group: try collection.map(CollectionGroup.group))
    query["service"] = StoredItem.service
    for (name, value) in attributes { query.attributes[Item.userPrefix + name] = .text(value) }
    return try keychain.items(query).compactMap(StoredItem.init).sorted(by: StoredItem.isBefore)
  }

  /// By one proven look-up.
  /// - Throws: `BusError`: `noSuchObject`.
  func item(_ collection: String, _ id: String) throws -> StoredItem {
    guard ObjectPath.isElement(id), id.utf8.count <= Item.maximumPrimaryTextByteCount else { throw BusError.noSuchObject }
    let group = try CollectionGroup.group(collection)
    let found = try keychain.items(KeychainQuery(service: StoredItem.service, account: id, group: group))
    guard let item = found.first.flatMap(StoredItem.init) else { throw BusError.noSuchObject }
    return item
  }

  func secret(of item: StoredItem) throws -> Secret { try keychain.secret(of: item.entry.reference) }

  // MARK: Changes

  struct Content: Sendable {
    var label: String?
    var attributes: [String: String]?

    /// - Throws: `BusError`: `limitsExceeded`, `invalidArguments`.
    func check() throws {
      if let label, label.utf8.count > Attributes.maximumValueByteCount { throw BusError.limitsExceeded("the label") }
      guard let attributes else { return }
      guard attributes.count <= ItemStore.maximumAttributes else {
        throw BusError.limitsExceeded("\(attributes.count) attributes")
      }
      for (name, value) in attributes {
        guard !name.isEmpty, !name.hasControlCharacter else { throw BusError.invalidArguments("the name of an attribute") }
        guard name.utf8.count <= ItemStore.maximumNameByteCount, value.utf8.count <= Attributes.maximumValueByteCount else {
          throw BusError.limitsExceeded("an attribute")
        }
      }
    }

    func write(into item: inout Item) {
      if let label { item.label = label }
      guard let attributes else { return }
      for (name, _) in item.attributes where name.hasPrefix(Item.userPrefix) { item.attributes[name] = nil }
      for (name, value) in attributes { item.attributes[Item.userPrefix + name] = .text(value) }
    }
  }

  /// - Parameter replaces: Whether the newest item with exactly these attributes is changed instead. Not one that has more of them: an
  ///   item without attributes would take the place of any.
  func create(
    _ content: Content, _ secret: borrowing Secret, contentType: String, in collection: String, replaces: Bool
  ) throws -> StoredItem {
    try content.check()
    let attributes = content.attributes ?? [:]
    if replaces, let old = try items(with: attributes, in: collection).first(where: { $0.attributes == attributes }) {
      try set(secret, contentType: contentType, of: old) { content.write(into: &$0) }
      return try item(collection, old.id)
    }
    var item = Item(service: StoredItem.service, account: Self.newID())
    content.write(into: &item)
    item[StoredItem.contentType] = Self.kept(contentType)
    try Self.check(secret)
    // The lock of a vault that is not used for a while must not cut off the programs that wait in the background.
    let reference = try keychain.add(
      item, secret: secret, group: CollectionGroup.group(collection), accessible: .afterFirstUnlock)
    guard let stored = StoredItem(try keychain.entry(reference)) else { throw BusError.noSuchObject }
    return stored
  }

  func set(_ secret: borrowing Secret, contentType: String, of item: StoredItem, _ change: (inout Item) throws -> Void = { _ in })
    throws
  {
    try Self.check(secret)
    try keychain.update(item.entry.reference, secret: secret) {
      $0[StoredItem.contentType] = Self.kept(contentType)
      try change(&$0)
    }
  }

  func change(_ item: StoredItem, to content: Content) throws {
    try content.check()
    try keychain.update(item.entry.reference) { content.write(into: &$0) }
  }

  func remove(_ item: StoredItem) throws { try keychain.remove(item.entry.reference) }

  /// The usual type is not kept.
  private static func kept(_ contentType: String) -> String? { contentType == StoredItem.plainText ? nil : contentType }

  private static func check(_ secret: borrowing Secret) throws {
    guard secret.count <= maximumSecretByteCount else { throw BusError.limitsExceeded("the secret has \(secret.count) bytes") }
  }

  private static func newID() -> String {
    let digits = Array("abcdefghijklmnopqrstuvwxyz234567")
    return String((0..<16).map { _ in digits[Int.random(in: 0..<32)] })
  }
}
