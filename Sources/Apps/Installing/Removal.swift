import AppContainers
package import VaultCore

extension InstalledApps {
  /// The app goes, with its container and with the containers of groups that no other app has. Pin, grants and items stay, but for
  /// those that are bound to the installation.
  /// - Throws: `VaultError`: `appNotInstalled`. `ContainerError`: `running`.
  package func remove(
    _ application: String, in vault: inout some AppRecords & ~Copyable, at now: Timestamp
  ) throws {
    try recover(in: &vault)
    guard let pin = try vault.pin(application), pin.removed == nil else { throw VaultError(.appNotInstalled, application) }
    let name = try FileName(application)
    let running = hasExecutables ? try RunningLock.excludingPrograms(of: name, in: data.containers()) : nil
    let marker = try Leftover.removing.name(of: name)
    if try directory.kind(name) == nil {
      // Somebody has deleted the app by hand. The mark says all the same that its removal has begun.
      _ = try directory.makeDirectory(marker)
    } else {
      try directory.removeTree(marker)
      try directory.rename(name, to: marker)
    }
    try directory.synchronize()
    try vault.markRemoved(application, at: now)
    try finishRemoval(application, holding: running, in: &vault)
  }

  /// What is left to do when the vault says that the app was removed. The mark goes last: as long as it is there, this is done again.
  func finishRemoval(
    _ application: String, holding lock: RunningLock? = nil, in vault: inout some AppRecords & ~Copyable
  ) throws {
    try vault.removeBoundItems(of: application)
    let marker = try Leftover.removing.name(of: FileName(application))
    if hasExecutables { try removeContainers(of: application, marker, holding: lock, in: vault) }
    try directory.removeTree(marker)
    try directory.synchronize()
  }

  private func removeContainers(
    of application: String, _ marker: FileName, holding lock: RunningLock?, in vault: borrowing some AppRecords & ~Copyable
  ) throws {
    let bundle = try Self.unlessDamaged { try self.bundle(marker, of: application) }.flatMap(\.self)
    try data.removeContainer(FileName(application), holding: lock)
    for group in bundle?.signed.manifest.applicationGroups ?? [] {
      if try !hasMember(group, besides: application, in: vault) { try data.removeGroup(FileName(group.name)) }
    }
  }

  /// The vault forgets a removed app: its pin, the grants to it, and the items of its own group. What lies in groups of the team stays.
  /// - Throws: `AppsError`: `appUnknown`, `appInstalled`; integrity errors.
  /// - Returns: how many items went, and how many stay because they are another device's, and cannot be seen here.
  @discardableResult
  package func forget(
    _ application: String, in vault: inout some AppRecords & ~Copyable
  ) throws -> (items: Int, unavailable: UInt64) {
    try recover(in: &vault)
    guard let pin = try vault.pin(application) else { throw AppsError(.appUnknown, application) }
    guard pin.removed != nil else { throw AppsError(.appInstalled, application) }
    return try vault.forget(application)
  }
}
