import Coffer
import MessageBus

typealias Collection = ServedCollection
typealias Catalog = ServedCatalog

extension Catalog {
  func collection(_ name: ObjectPath.CollectionName) -> Collection? {
    let known: String? =
      switch name {
      case .name(let name): name
      case .alias(let alias): aliases[alias]
      }
    return collections.first { $0.name == known }
  }
}

extension ItemStore {
  /// First what the owner may refuse.
  /// - Parameter forget: Forgets the catalog. A program that adds an item meanwhile looks there afterwards whether its collection is left.
  func removeCollection(_ name: String, aliases: [String], forget: () -> Void) throws {
    func removeItems() throws {
      for item in try items(with: [:], in: name) {
        // Another program may have removed it a moment ago.
        do { try remove(item) } catch KeychainError.Code.notFound {}
      }
    }
    try removeItems()
    try keychain.removeCollectionNote(name)
    forget()
    try removeItems()
    for alias in aliases { try keychain.setAlias(alias, to: nil) }
  }
}
