import CofferFiles
import CofferStorage
package import VaultCore

/// A new vault for items of another one. Its file has no name before it is complete, and is removed if it never is.
package struct VaultExport {
  private let path: String
  private let vault: String?

  /// Before anybody is asked for anything. A file is made, to find out whether one can be, and removed: a process that waits and is killed
  /// leaves none.
  /// - Parameter vault: The path of the vault that has the items; nil if it is not a file of this user.
  /// - Throws: `LifecycleError`: `backupExists`, `isTheVault`, `directoryMissing`; `StorageError`: `readOnly`, `accessDenied`, `full`, `io`.
  package init(at path: String, besides vault: String?) throws {
    (self.path, self.vault) = (path, vault)
    _ = try Backup.begin(at: path, besides: vault)
  }

  /// Makes the vault, has it filled, opens and proves it by the same credential, and gives the file its name.
  /// - Throws: as `init`; `backupExists` if something has appeared at the path; the error of `fill`; integrity errors; `full`, `io`.
  package func finish(
    with credential: borrowing Credential, kdf: KDFParameters, at now: Timestamp, _ fill: (inout Vault) throws -> Void
  ) throws {
    let file = try Backup.begin(at: path, besides: vault)
    try file.build { store in
      var vault = try Vault.create(in: store, with: credential, kdf: kdf, at: now)
      try fill(&vault)
      try vault.close()
    }
    let made = try Vault.open(file.store(), with: credential)
    if let problem = try made.verify().problems.first { throw problem }
    guard try file.appear(at: path) else { throw LifecycleError(.backupExists, path) }
  }
}
