import Coffer
import CofferRequests
import MessageBus
import SecretMemory
import VaultCore

/// A collection, but for its items.
struct Collection: Equatable, Sendable {
  let name: String
  var label: String
  var created: UInt64 = 0
  var modified: UInt64 = 0

  static let loginName = "login"
  /// It is there from the start, before anything was kept.
  static let login = Collection(name: loginName, label: "Login")
}

/// All collections, and the names that lead to some of them.
struct Catalog: Sendable {
  var collections = [Collection.login]
  var aliases = Catalog.fixed
  /// From the vault; false while the vault was never unlocked.
  var isComplete = false

  static let fixed = ["default": Collection.loginName, "login": Collection.loginName]

  func collection(_ name: ObjectPath.CollectionName) -> Collection? {
    let known: String? =
      switch name {
      case .name(let name): name
      case .alias(let alias): aliases[alias]
      }
    return collections.first { $0.name == known }
  }
}

/// Collections and aliases as notes in the group `secret-service`.
extension ItemStore {
  private static let collectionPrefix = "collection/"
  private static let aliasPrefix = "alias/"
  private static let target = Item.userPrefix + "collection"

  private static func root() throws -> AccessGroup { try AccessGroup(CollectionGroup.root) }

  func catalog() throws -> Catalog {
    var catalog = Catalog(isComplete: true)
    for entry in try keychain.items(KeychainQuery(.note, group: Self.root())) {
      let title = entry.item["title"] ?? ""
      if title.hasPrefix(Self.collectionPrefix) {
        let name = String(title.dropFirst(Self.collectionPrefix.count))
        guard ObjectPath.isElement(name) else { continue }
        catalog.collections.removeAll { $0.name == name }
        catalog.collections.append(
          Collection(
            name: name, label: entry.item.label ?? "", created: Self.seconds(entry.item.created),
            modified: Self.seconds(entry.item.modified)))
      } else if title.hasPrefix(Self.aliasPrefix), let target = entry.item[Self.target] {
        catalog.aliases[String(title.dropFirst(Self.aliasPrefix.count))] = target
      }
    }
    return catalog
  }

  private static func seconds(_ time: Timestamp?) -> UInt64 { UInt64(max(0, time?.secondsSince1970 ?? 0)) }

  /// - Throws: `duplicate` if another one has made it in between.
  func createCollection(_ name: String, label: String) throws {
    guard label.utf8.count <= Attributes.maximumValueByteCount else { throw BusError.limitsExceeded("the label") }
    var note = Item(.note)
    note["title"] = Self.collectionPrefix + name
    note.label = label
    try put(note) { $0.label = label }
  }

  /// - Parameter collection: nil: none.
  func setAlias(_ alias: String, to collection: String?) throws {
    var note = Item(.note)
    note["title"] = Self.aliasPrefix + alias
    guard let collection else {
      do { try keychain.remove(note, in: Self.root()) } catch KeychainError.Code.notFound {}
      return
    }
    note[Self.target] = collection
    try put(note) { $0[Self.target] = collection }
  }

  func removeCollection(_ name: String, aliases: [String]) throws {
    for alias in aliases { try setAlias(alias, to: nil) }
    for item in try items(with: [:], in: name) { try remove(item) }
    var note = Item(.note)
    note["title"] = Self.collectionPrefix + name
    do { try keychain.remove(note, in: Self.root()) } catch KeychainError.Code.notFound {}
  }

  private func put(_ note: Item, _ change: (inout Item) -> Void) throws {
    do {
      try keychain.add(note, secret: try Secret(count: 0), group: Self.root(), accessible: .afterFirstUnlock)
    } catch KeychainError.Code.duplicate {
      let query = KeychainQuery(.note, group: try Self.root(), attributes: note.primaryKey)
      try keychain.update(keychain.item(query).reference, change)
    }
  }
}
