import CofferStorage
import VaultCore

/// The backups of a vault from before a rotation, which open with credentials and keys of before.
struct OldBackups {
  private let directory: BackupDirectory
  private let vault: Identifier
  private let before: Set<BackupName>

  /// - Parameter vault: The identifier of the vault. Another one may have been at its path, and left backups.
  init(in directory: BackupDirectory, of vault: Identifier) {
    (self.directory, self.vault) = (directory, vault)
    before = Set(directory.names)
  }

  /// Removes those that an earlier rotation was to remove and did not come to, that of this rotation if it is not to stay, and all if the
  /// order says so. One that cannot be removed, or read, stays.
  /// - Parameters:
  ///   - kept: The path of the backup that this rotation has made.
  ///   - generation: The generation of the last commit with new keys. A backup of an earlier one, made meanwhile, has rows under old keys.
  /// - Returns: The paths of those that were removed.
  func remove(_ order: RotationOrder, keeping kept: String, before generation: UInt64) -> [String] {
    directory.names.filter { name in
      guard directory.path(of: name) != kept else { return order.removesBackup }
      guard name.occasion == .rotation || order.prunesBackups && (before.contains(name) || name.generation < generation)
      else { return false }
      return isOfVault(name)
    }.map(directory.path(of:)).filter { (try? directory.remove($0)) != nil }
  }

  private func isOfVault(_ name: BackupName) -> Bool {
    (try? Vault.inspect(FileStore(unchangingAt: directory.path(of: name))).id) == vault
  }
}
