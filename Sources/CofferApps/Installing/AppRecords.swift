package import AccessRights
import SecretMemory
package import VaultCore
import VaultUpkeep

/// The records of apps, which decide whether an app is installed: in a vault that is open in this process, or in an agent, which
/// allows no other process to change them.
package protocol AppRecords: ~Copyable {
  /// Each app that was ever installed, ordered by team and name.
  borrowing func pins() throws -> [AppPin]
  borrowing func pin(_ application: String) throws -> AppPin?
  /// - Parameter bytes: The content of the manifest file.
  mutating func install(_ signed: SignedManifest, _ bytes: [UInt8], at now: Timestamp) throws
  mutating func markRemoved(_ application: String, at now: Timestamp) throws
  /// Removes the items bound to the installation. Items of other devices cannot be read here, and stay.
  mutating func removeBoundItems(of application: String) throws
  /// The number of items that `forget` would remove.
  borrowing func itemCount(of application: String) throws -> Int
  /// Removes the records of a removed app: its pin, its grants, and the items of its own group.
  mutating func forget(_ application: String) throws -> (items: Int, unavailable: UInt64)
}

extension Vault: AppRecords {
  package mutating func install(_ signed: SignedManifest, _: [UInt8], at now: Timestamp) throws {
    _ = try transaction { try $0.install(signed, at: now) }
  }

  package mutating func markRemoved(_ application: String, at now: Timestamp) throws {
    try transaction { try $0.markRemoved(application, at: now) }
  }

  package mutating func removeBoundItems(of application: String) throws {
    func isBound(_ item: Item) -> Bool { item[Item.installBound]?.utf8.elementsEqual(application.utf8) ?? false }
    let bound = try entries { isBound($0.item) }.entries
    let removed = try removedItems().filter { isBound($0.entry.item) }
    guard !bound.isEmpty || !removed.isEmpty else { return }
    try transaction { transaction in
      for item in removed { _ = try transaction.purge(item.entry.reference) { _ in true } }
      for entry in bound {
        // Another process may have removed the item since.
        do { try transaction.remove(entry.reference) } catch VaultError.Code.notFound {}
      }
    }
  }

  package borrowing func itemCount(of application: String) throws -> Int {
    let group = try AccessGroup(application)
    guard try contains(group) else { return 0 }
    let found = try entries(in: group)
    return found.entries.count
  }

  package mutating func forget(_ application: String) throws -> (items: Int, unavailable: UInt64) {
    let group = try AccessGroup(application)
    let found = try contains(group) ? entries(in: group) : nil
    let items = found?.entries.map(\.reference) ?? []
    let removed = try removedItems().map(\.entry.reference).filter { $0.group == group }
    let grants = try grants(to: application)
    try transaction { transaction in
      for item in removed { _ = try transaction.purge(item) { _ in true } }
      for item in items { try transaction.remove(item) }
      for grant in grants { try transaction.removeGrant(to: application, grant.group) }
      try transaction.removePin(application)
    }
    return (items.count, UInt64(found?.unavailableCount ?? 0))
  }
}
