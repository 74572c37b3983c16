package import VaultCore

/// What is remembered of apps, and decides: by a vault that is open in this process, or by an agent that nobody else can tell what to remember.
package protocol AppRecords: ~Copyable {
  /// Every app that was ever installed, ordered by team and name.
  borrowing func pins() throws -> [AppPin]
  borrowing func pin(_ application: String) throws -> AppPin?
  /// - Parameter bytes: The file of the manifest.
  mutating func install(_ signed: SignedManifest, _ bytes: [UInt8], at now: Timestamp) throws
  mutating func markRemoved(_ application: String, at now: Timestamp) throws
  /// Items that were to go with the app. Those of other devices cannot be seen here, and stay.
  mutating func removeBoundItems(of application: String) throws
  /// How many items would be forgotten.
  borrowing func itemCount(of application: String) throws -> Int
  /// Of an app that was removed: its pin, the grants to it, and the items of its own group.
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
    let bound = try entries { $0.item[Item.installBound]?.utf8.elementsEqual(application.utf8) ?? false }.entries
    guard !bound.isEmpty else { return }
    try transaction { transaction in
      for entry in bound {
        // Somebody else may have removed it since.
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
    let grants = try grants(to: application)
    try transaction { transaction in
      for item in items { try transaction.remove(item) }
      for grant in grants { try transaction.removeGrant(to: application, grant.group) }
      try transaction.removePin(application)
    }
    return (items.count, UInt64(found?.unavailableCount ?? 0))
  }
}
