import CofferRequests
package import SecretMemory
import VaultCore

/// The key of an app of a sandbox, which the portal asks for. It is kept where no program of the bus finds it.
package enum AppKey {
  package static let byteCount = 64
  /// No collection gets this name.
  static let collection = "portal"
  private static let maximumNameByteCount = 255

  /// Whether the text may name an app. The name is empty for a program that is in no sandbox: all of these would have one key.
  package static func isApp(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= maximumNameByteCount
      && text.utf8.allSatisfy { CollectionGroup.isPlain($0) || "._-".utf8.contains($0) }
  }

  /// It has no text.
  package static let contentType = "application/octet-stream"

  /// For messages.
  package static func path(of app: String) -> String { "\(AccessGroup.secretService.name)/\(collection): portal/\(app)" }

  /// The attributes by which gnome-keyring finds it, in its keyring for what is kept at log-in.
  package static func attributes(of app: String) -> [String: String] { [attribute: app] }

  /// The app whose key gnome-keyring keeps with these attributes; nil if it keeps none with them.
  package static func app(of attributes: [String: String]) -> String? {
    guard attributes.count == 1, let app = attributes[attribute], isApp(app) else { return nil }
    return app
  }

  private static let attribute = "app_id"

  fileprivate static func item(_ app: String) -> Item {
    var item = Item(service: "portal", account: app)
    item.label = "Key of \(app)"
    return item
  }
}

extension Keychain {
  /// The key of an app, which is made at first use.
  package func appKey(_ app: String) throws -> Secret {
    if let known = try knownAppKey(app) { return known }
    let key = try Secret.random(count: AppKey.byteCount)
    if try addAppKey(key, of: app) { return key }
    // Another call has made it in between.
    guard let known = try knownAppKey(app) else { throw VaultError(.notFound) }
    return known
  }

  /// - Returns: nil if it has none.
  package func knownAppKey(_ app: String) throws -> Secret? {
    let group = try CollectionGroup.group(AppKey.collection)
    let item = AppKey.item(app)
    let found = try items(KeychainQuery(.genericPassword, group: group, attributes: item.primaryKey))
    return try found.first.map { try secret(of: $0.reference) }
  }

  /// The apps that have a key, and their keys as items.
  package func appKeys() throws -> [(app: String, entry: Entry)] {
    let query = KeychainQuery(.genericPassword, group: try CollectionGroup.group(AppKey.collection))
    return try items(query).compactMap { entry in
      guard let app = entry.item["account"], AppKey.isApp(app), entry.item.primaryKey == AppKey.item(app).primaryKey else {
        return nil
      }
      return (app, entry)
    }
  }

  /// - Returns: False if it has one.
  package func addAppKey(_ key: borrowing Secret, of app: String) throws -> Bool {
    do {
      try add(
        AppKey.item(app), secret: key, group: CollectionGroup.group(AppKey.collection), accessible: .afterFirstUnlock)
      return true
    } catch KeychainError.Code.duplicate {
      return false
    }
  }
}
