import CofferFiles
package import CofferStorage
package import VaultCore

/// A vault file of elsewhere, such as a backup. It is copied in, and nothing is opened where it lies. The copy goes with this object.
package final class ForeignVault {
  private let copy: UnnamedVault
  package let store: FileStore

  /// - Parameters:
  ///   - vault: The path of the vault that is in use; nil if it is not a file of this user.
  ///   - directory: The place of the copy.
  /// - Throws: `LifecycleError`: `isTheVault`, `hasLog`; as `UnnamedVault.fill(fromFileAt:)`; all that is wrong with the file.
  package init(
    copiedFrom file: String, besides vault: String?, in directory: BackupDirectory, step: Backup.Step
  ) throws {
    guard try !Backup.isFile(file, vault) else { throw LifecycleError(.isTheVault, file) }
    for log in ["\(file)-wal", "\(file)-journal"] where try (Files.status(at: log)?.size ?? 0) > 0 {
      throw LifecycleError(.hasLog, log)
    }
    copy = try directory.begin()
    try copy.fill(fromFileAt: file, step: step)
    store = try copy.store()
  }

  /// The kinds of its slots, not proven.
  package func slotTypes() throws -> Set<SlotType> { Set(try Vault.inspect(store).slots.map(\.type)) }
}
