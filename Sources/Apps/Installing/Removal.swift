import AppContainers
package import VaultCore

extension InstalledApps {
  /// The app goes, with its container and with the containers of groups that no other app has. Pin, grants and items stay, but for
  /// those that are bound to the installation.
  /// - Throws: `VaultError`: `appNotInstalled`. `ContainerError`: `running`.
  package func remove(_ application: String, in vault: inout Vault, at now: Timestamp) throws {
    try recover(in: &vault)
    guard let pin = try vault.pin(application), pin.removed == nil else { throw VaultError(.appNotInstalled, application) }
    let name = try FileName(application)
    let running = try RunningLock.excludingPrograms(of: name, in: data.containers())
    let marker = try Leftover.removing.name(of: name)
    if try directory.kind(name) == nil {
      // Somebody has deleted the app by hand. The mark says all the same that its removal has begun.
      _ = try directory.makeDirectory(marker)
    } else {
      try directory.removeTree(marker)
      try directory.rename(name, to: marker)
    }
    try directory.synchronize()
    try vault.transaction { try $0.markRemoved(application, at: now) }
    try finishRemoval(application, holding: running, in: &vault)
  }

  /// What is left to do when the vault says that the app was removed. The mark goes last: as long as it is there, this is done again.
  func finishRemoval(_ application: String, holding lock: RunningLock? = nil, in vault: inout Vault) throws {
    try removeBoundItems(of: application, in: &vault)
    let marker = try Leftover.removing.name(of: FileName(application))
    let bundle = try Self.unlessDamaged { try self.bundle(marker, of: application) }.flatMap(\.self)
    try data.removeContainer(FileName(application), holding: lock)
    for group in bundle?.signed.manifest.applicationGroups ?? [] {
      if try !hasMember(group, besides: application, in: vault) { try data.removeGroup(FileName(group.name)) }
    }
    try directory.removeTree(marker)
    try directory.synchronize()
  }

  /// Items that were to go with the app. Those of other devices cannot be seen here, and stay.
  private func removeBoundItems(of application: String, in vault: inout Vault) throws {
    let bound = try vault.entries { $0.item[Item.installBound]?.utf8.elementsEqual(application.utf8) ?? false }.entries
    guard !bound.isEmpty else { return }
    try vault.transaction { transaction in
      for entry in bound {
        // Somebody else may have removed it since.
        do { try transaction.remove(entry.reference) } catch VaultError.Code.notFound {}
      }
    }
  }

  /// What the vault would forget.
  package func itemCount(of application: String, in vault: borrowing Vault) throws -> Int {
    let group = try AccessGroup(application)
    guard try vault.contains(group) else { return 0 }
    let entries = try vault.entries(in: group)
    return entries.entries.count
  }

  /// The vault forgets a removed app: its pin, the grants to it, and the items of its own group. What lies in groups of the team stays.
  /// - Throws: `AppsError`: `appUnknown`, `appInstalled`; integrity errors.
  /// - Returns: how many items went, and how many stay because they are another device's, and cannot be seen here.
  @discardableResult
  package func forget(_ application: String, in vault: inout Vault) throws -> (items: Int, unavailable: UInt64) {
    try recover(in: &vault)
    guard let pin = try vault.pin(application) else { throw AppsError(.appUnknown, application) }
    guard pin.removed != nil else { throw AppsError(.appInstalled, application) }
    let group = try AccessGroup(application)
    let found = try vault.contains(group) ? vault.entries(in: group) : nil
    let items = found?.entries.map(\.reference) ?? []
    let grants = try vault.grants(to: application)
    try vault.transaction { transaction in
      for item in items { try transaction.remove(item) }
      for grant in grants { try transaction.removeGrant(to: application, grant.group) }
      try transaction.removePin(application)
    }
    return (items.count, UInt64(found?.unavailableCount ?? 0))
  }
}
