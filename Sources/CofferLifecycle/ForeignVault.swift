package import CofferFiles
package import CofferStorage
import Glibc
package import VaultCore

/// A vault file of elsewhere, such as a backup. It is copied in, and nothing is opened where it lies. The copy goes with this object.
package final class ForeignVault {
  /// Its path; nil if another process has opened the file.
  package let path: String?
  private let copy: UnnamedVault
  package let store: FileStore

  /// - Parameters:
  ///   - vault: The path of the vault that is in use; nil if it is not a file of this user.
  ///   - directory: The place of the copy, if there is room in it.
  /// - Throws: as `open`; as `UnnamedVault.fill(from:)`; all that is wrong with the file.
  package convenience init(
    copiedFrom file: String, besides vault: String?, in directory: BackupDirectory, step: Backup.Step
  ) throws {
    try self.init(copying: Self.open(file, besides: vault), at: file, in: directory, step)
  }

  /// Opens a file that is to be copied in, here or by another process.
  /// - Throws: `LifecycleError`: `isTheVault`, `hasLog`; `StorageError`: `noVault` if there is no file, `symbolicLink`, `accessDenied`.
  package static func open(_ file: String, besides vault: String?) throws -> File<StorageError> {
    guard let status = try Files.status(at: file) else { throw StorageError(.noVault, file) }
    guard status.kind != .link else { throw StorageError(.symbolicLink, file) }
    // Before it is opened: to close a file drops the locks that this process has on it.
    guard try !Backup.isFile(status, vault) else { throw LifecycleError(.isTheVault, file) }
    for log in ["\(file)-wal", "\(file)-journal"] where try (Files.status(at: log)?.size ?? 0) > 0 {
      throw LifecycleError(.hasLog, log)
    }
    return try File(file, O_RDONLY)
  }

  /// Copies a file that another process has opened and sent. Its path, and what lies beside it, are not known.
  /// - Throws: `LifecycleError`: `isTheVault`; as `UnnamedVault.fill(from:)`; all that is wrong with the file.
  package convenience init(
    copiedFrom file: File<StorageError>, besides vault: String?, in directory: BackupDirectory, step: Backup.Step
  ) throws {
    guard try !Backup.isFile(file.status(), vault) else { throw LifecycleError(.isTheVault, file.path) }
    try self.init(copying: file, at: nil, in: directory, step)
  }

  private init(
    copying file: File<StorageError>, at path: String?, in directory: BackupDirectory, _ step: Backup.Step
  ) throws {
    self.path = path
    copy = try directory.scratch { try $0.fill(from: file, step: step) }
    do {
      store = try copy.store()
      _ = try Vault.inspect(store)
    } catch let error as StorageError {
      // The copy is gone when the error is read.
      guard let name = error.detail.firstRange(of: Path.name(of: copy.path)) else { throw error }
      throw StorageError(error.code, file.path + error.detail[name.upperBound...])
    }
  }

  /// The kinds of its slots, not proven.
  package func slotTypes() throws -> Set<SlotType> { Set(try Vault.inspect(store).slots.map(\.type)) }
}
