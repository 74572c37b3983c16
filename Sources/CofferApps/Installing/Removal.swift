import AccessRights
import AppContainers
import CofferFiles
import SecretMemory
package import VaultCore

extension InstalledApps {
  /// Removes the app, its container, and the containers of groups that no other app has. Pin, grants and items are kept, except
  /// items bound to the installation.
  /// - Throws: `VaultError`: `appNotInstalled`. `FileError`: `running`. `AppsError`: `damagedRecordsStay` after all else is done.
  package func remove(
    _ application: String, in vault: inout some AppRecords & ~Copyable, at now: Timestamp
  ) throws {
    try recover(in: &vault)
    guard let pin = try vault.pin(application), pin.removed == nil else { throw VaultError(.appNotInstalled, application) }
    let name = try FileName(application)
    let running = hasExecutables ? try RunningLock.excludingPrograms(of: name, in: data.containers()) : nil
    let marker = try Leftover.removing.name(of: name)
    if try directory.kind(name) == nil {
      // The app's directory was deleted by hand. The marker records nevertheless that the removal has begun.
      _ = try directory.makeDirectory(marker)
    } else {
      try directory.removeTree(marker)
      try directory.rename(name, to: marker)
    }
    try directory.synchronize()
    do {
      try vault.markRemoved(application, at: now)
    } catch {
      // The vault refused, or the commit may have taken effect: recovery reads the vault, and restores the app if it is still
      // installed.
      try? recover(in: &vault)
      throw error
    }
    let damagedCount = try finishRemoval(application, holding: running, in: &vault)
    guard damagedCount == 0 else { throw AppsError(.damagedRecordsStay, "\(damagedCount)") }
  }

  /// The remaining steps after the vault has recorded the removal. The marker is deleted last, so that an interrupted removal is
  /// repeated.
  /// - Returns: How many records of the vault are damaged: each may be an item bound to the installation, and stays.
  @discardableResult
  func finishRemoval(
    _ application: String, holding lock: RunningLock? = nil, in vault: inout some AppRecords & ~Copyable
  ) throws -> Int {
    let damagedCount = try vault.removeBoundItems(of: application)
    let marker = try Leftover.removing.name(of: FileName(application))
    if hasExecutables { try removeContainers(of: application, marker, holding: lock, in: vault) }
    try directory.removeTree(marker)
    try directory.synchronize()
    return damagedCount
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

  /// Deletes the vault's records of a removed app: its pin, its grants, and the items of its own group. Items in groups of the
  /// team are kept.
  /// - Throws: `AppsError`: `appUnknown`, `appInstalled`; `damagedRecordsStay` after all else is done; integrity errors.
  @discardableResult
  package func forget(_ application: String, in vault: inout some AppRecords & ~Copyable) throws -> ForgottenApp {
    try recover(in: &vault)
    guard let pin = try vault.pin(application) else { throw AppsError(.appUnknown, application) }
    guard pin.removed != nil else { throw AppsError(.appInstalled, application) }
    let forgotten = try vault.forget(application)
    guard forgotten.damaged == 0 else { throw AppsError(.damagedRecordsStay, "\(forgotten.damaged)") }
    return forgotten
  }
}
