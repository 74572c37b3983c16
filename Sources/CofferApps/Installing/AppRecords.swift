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
  /// - Returns: How many records of the vault are damaged: each may be such an item, and stays.
  mutating func removeBoundItems(of application: String) throws -> Int
  /// The number of items that `forget` would remove.
  borrowing func itemCount(of application: String) throws -> Int
  /// Removes the records of a removed app: its pin, its grants, and the items of its own group.
  mutating func forget(_ application: String) throws -> ForgottenApp
}

/// The numbers of the records that forgetting an app concerned.
package struct ForgottenApp: Sendable {
  /// Removed items.
  package let items: Int
  /// Items that stay, because they belong to another device and cannot be read here.
  package let unavailable: UInt64
  /// Damaged records of the vault, which stay: each may be an item of the app, or a former version of one.
  package let damaged: Int

  package init(items: Int, unavailable: UInt64, damaged: Int) {
    (self.items, self.unavailable, self.damaged) = (items, unavailable, damaged)
  }
}

extension Vault: AppRecords {
  package mutating func install(_ signed: SignedManifest, _: [UInt8], at now: Timestamp) throws {
    _ = try transaction { try $0.install(signed, at: now) }
  }

  package mutating func markRemoved(_ application: String, at now: Timestamp) throws {
    try transaction { try $0.markRemoved(application, at: now) }
  }

  package mutating func removeBoundItems(of application: String) throws -> Int {
    func isBound(_ item: Item) -> Bool { item[Item.installBound]?.utf8.elementsEqual(application.utf8) ?? false }
    var damagedCount = 0
    let bound = try entries(where: { isBound($0.item) }, damaged: { _ in damagedCount += 1 }).entries
    let removed = try removedItems { _ in damagedCount += 1 }.filter { isBound($0.entry.item) }
    guard !bound.isEmpty || !removed.isEmpty else { return damagedCount }
    try transaction { transaction in
      damagedCount += try transaction.purgeSound(removed.map(\.entry.reference))
      for entry in bound {
        // Another process may have removed the item since.
        do { try transaction.remove(entry.reference) } catch VaultError.Code.notFound {}
      }
    }
    return damagedCount
  }

  package borrowing func itemCount(of application: String) throws -> Int {
    let group = try AccessGroup(application)
    guard try contains(group) else { return 0 }
    let found = try entries(in: group, damaged: { _ in })
    return found.entries.count
  }

  package mutating func forget(_ application: String) throws -> ForgottenApp {
    let group = try AccessGroup(application)
    var damagedCount = 0
    let found = try contains(group) ? entries(in: group, damaged: { _ in damagedCount += 1 }) : nil
    let items = found?.entries.map(\.reference) ?? []
    let removed = try removedItems { _ in damagedCount += 1 }.map(\.entry.reference).filter { $0.group == group }
    let grants = try grants(to: application)
    try transaction { transaction in
      damagedCount += try transaction.purgeSound(removed)
      for item in items { try transaction.remove(item) }
      for grant in grants { try transaction.removeGrant(to: application, grant.group) }
      try transaction.removePin(application)
    }
    return ForgottenApp(items: items.count, unavailable: UInt64(found?.unavailableCount ?? 0), damaged: damagedCount)
  }
}

extension Transaction {
  /// Removes all versions of removed items.
  /// - Returns: How many of the items stay, because the secret of their last version is damaged.
  fileprivate mutating func purgeSound(_ items: [Reference]) throws -> Int {
    var damagedCount = 0
    for item in items {
      do { _ = try purge(item) { _ in true } } catch let error as VaultError {
        guard error.code.concernsOneRecord else { throw error }
        damagedCount += 1
      }
    }
    return damagedCount
  }
}
