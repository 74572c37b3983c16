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
  func removeCollection(_ name: String, aliases: [String]) throws {
    for alias in aliases { try keychain.setAlias(alias, to: nil) }
    for item in try items(with: [:], in: name) { try remove(item) }
    try keychain.removeCollectionNote(name)
  }
}
