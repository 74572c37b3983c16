import Coffer
import CofferRequests
import MessageBus
import SecretMemory
import VaultCore

/// The items of the collections, in the agent's vault.
struct ItemStore: Sendable {
  let keychain: Keychain
  let temporary: TemporaryItems

  // MARK: Reading

  /// All that have these attributes, the newest first.
  /// - Parameter collection: nil: in all collections.
  func items(with attributes: [String: String], in collection: String?) throws -> [StoredItem] {
    let kept = try collection == Collection.sessionName ? [] : keptItems(with: attributes, in: collection)
    let passing = collection ?? Collection.sessionName == Collection.sessionName ? temporary.items(with: attributes) : []
    return (kept + passing).sorted(by: StoredItem.isBefore)
  }

  private func keptItems(with attributes: [String: String], in collection: String?) throws -> [StoredItem] {
    var query = KeychainQuery(.genericPassword, group: try collection.map(CollectionGroup.group))
    query["service"] = StoredItem.service
    for (name, value) in attributes { query.attributes[Item.userPrefix + name] = .text(value) }
    return try keychain.items(query).compactMap(StoredItem.init)
  }

  /// By one proven look-up.
  /// - Throws: `BusError`: `noSuchObject`.
  func item(_ collection: String, _ id: String) throws -> StoredItem {
    guard collection != Collection.sessionName else { return try temporary.item(id) }
    let group = try CollectionGroup.group(collection)
    let found = try keychain.items(KeychainQuery(service: StoredItem.service, account: id, group: group))
    guard let item = found.first.flatMap(StoredItem.init) else { throw BusError.noSuchObject }
    return item
  }

  func secret(of item: StoredItem) throws -> Secret {
    try item.isTemporary ? temporary.secret(of: item) : keychain.secret(of: item.entry.reference)
  }

  struct Read: ~Copyable {
    let contentType: String
    let secret: Secret
  }

  /// - Parameter reference: The reference that the item had when it was handed out; nil if it was not.
  /// - Throws: `BusError`: `noSuchObject`.
  func read(_ collection: String, _ id: String, _ reference: Reference?) throws -> Read {
    if let reference, collection != Collection.sessionName {
      var entry: Entry?
      do {
        let secret = try keychain.secret(of: reference, &entry)
        if let item = entry.flatMap(StoredItem.init) {
          return Read(contentType: item.contentType, secret: secret)
        }
      } catch KeychainError.Code.notFound {}
    }
    let item = try item(collection, id)
    return Read(contentType: item.contentType, secret: try secret(of: item))
  }

  // MARK: Changes

  typealias Content = ServedContent

  /// - Parameter replaces: Whether the newest item with exactly these attributes is changed instead. Not one that has more of them: an
  ///   item without attributes would take the place of any.
  /// - Returns: Which one it is, and its path.
  func create(
    _ content: Content, _ secret: borrowing Secret, contentType: String, in collection: String, replaces: Bool
  ) throws -> (Reference, path: String) {
    try content.check()
    let attributes = content.attributes ?? [:]
    if replaces, let old = try items(with: attributes, in: collection).first(where: { $0.attributes == attributes }) {
      try set(secret, contentType: contentType, of: old) { content.write(into: &$0) }
      return (try item(collection, old.id).entry.reference, old.path)
    }
    let item = StoredItem.item(content, contentType: contentType)
    try Self.check(secret)
    guard collection != Collection.sessionName else {
      let added = try temporary.add(item, secret, in: CollectionGroup.group(collection))
      return (added.entry.reference, added.path)
    }
    // The lock of a vault that is not used for a while must not cut off the programs that wait in the background.
    let reference = try keychain.add(
      item, secret: secret, group: CollectionGroup.group(collection), accessible: .afterFirstUnlock)
    // Its name is known here: it is not read again.
    return (reference, ObjectPath.item(collection, item["account"] ?? ""))
  }

  func set(_ secret: borrowing Secret, contentType: String, of item: StoredItem, _ change: (inout Item) throws -> Void = { _ in })
    throws
  {
    try Self.check(secret)
    let change = { (item: inout Item) in
      StoredItem.set(contentType, of: &item)
      try change(&item)
    }
    guard !item.isTemporary else { return try temporary.change(item, secret.duplicate(), change) }
    try keychain.update(item.entry.reference, secret: secret, change)
  }

  func change(_ item: StoredItem, to content: Content) throws {
    try content.check()
    guard !item.isTemporary else { return try temporary.change(item, nil) { content.write(into: &$0) } }
    try keychain.update(item.entry.reference) { content.write(into: &$0) }
  }

  func remove(_ item: StoredItem) throws {
    if item.isTemporary { try temporary.remove(item) } else { try keychain.remove(item.entry.reference) }
  }

  private static func check(_ secret: borrowing Secret) throws {
    guard secret.count <= Content.maximumSecretByteCount else {
      throw BusError.limitsExceeded("the secret has \(secret.count) bytes")
    }
  }
}

extension ServedContent {
  /// - Throws: `BusError`: `limitsExceeded`, `invalidArguments`.
  func check() throws(BusError) {
    switch misfit {
    case .label?: throw .limitsExceeded("the label")
    case .attributeCount(let count)?: throw .limitsExceeded("\(count) attributes")
    case .attributeName?: throw .invalidArguments("the name of an attribute")
    case .attribute?: throw .limitsExceeded("an attribute")
    case nil: break
    }
  }
}

extension StoredItem {
  /// Whether it is in the collection `session`.
  var isTemporary: Bool { collection == Collection.sessionName }

  var path: String { ObjectPath.item(collection, id) }
}
