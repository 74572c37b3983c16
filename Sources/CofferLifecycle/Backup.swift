package import CofferFiles
package import CofferStorage
import Glibc
package import VaultCore

/// A copy of a vault that was made and read back.
package struct Backup: Sendable {
  /// Called with the records done and the records in all. An error that it throws ends the work, and its file is removed.
  package typealias Step = (UInt64, UInt64) throws -> Void

  package enum Target {
    case file(String)
    /// Under a name of its own. None is removed for it: `BackupDirectory.prune` is called when that which it was made for is done.
    case directory(BackupDirectory, BackupName.Occasion = .ordinary)
    /// Without a name, to be read only, as `BackupDirectory.scratch` makes it.
    case unnamed(BackupDirectory, (File<StorageError>) throws -> Void)
  }

  /// nil if it has no name.
  package let path: String?
  /// The header and slots of the file, not proven.
  package let status: VaultStatus

  /// Copies a vault as one transaction sees it, without a key, while others write.
  /// - Parameters:
  ///   - acceptsDamage: Whether a vault is copied as it is that lacks records, or has some that no reader would accept, before it is
  ///     repaired or replaced.
  ///   - check: Gets the copy before it has its name. If it throws, the copy is removed.
  /// - Throws: `LifecycleError`: `backupExists`, `isTheVault`, `nameOfTheVaults`, `directoryMissing`, `recordsMissing`; as
  ///   `UnnamedVault.fill`; the errors of `check` and `step`.
  package static func make(
    of store: FileStore, at target: Target, now: Timestamp, acceptsDamage: Bool = false, step: Step,
    check: (FileStore) throws -> Void = { _ in }
  ) throws -> Backup {
    guard case .directory(let directory, _) = target else {
      return try made(of: store, at: target, now, acceptsDamage, step, check)
    }
    return try Files.withDurableDirectory(directory.path) { try made(of: store, at: target, now, acceptsDamage, step, check) }
  }

  private static func made(
    of store: FileStore, at target: Target, _ now: Timestamp, _ acceptsDamage: Bool, _ step: Step,
    _ check: (FileStore) throws -> Void
  ) throws -> Backup {
    var count: UInt64 = 0
    let copy = try copy(to: target, of: store) { count = try $0.fill(from: store, keepsDamage: acceptsDamage, step: step) }
    let status = try Self.status(of: copy, check)
    guard count >= status.recordCount || acceptsDamage else {
      throw LifecycleError(.recordsMissing, "\(status.recordCount - count) of \(status.recordCount)")
    }
    switch target {
    case .file(let path):
      guard try copy.appear(at: path) else { throw LifecycleError(.backupExists, path) }
      return Backup(path: path, status: status)
    case .directory(let directory, let occasion):
      let name = BackupName(time: now, generation: status.generation, occasion: occasion)
      return Backup(path: try directory.keep(copy, as: name), status: status)
    case .unnamed(_, let take):
      let file = try File<StorageError>(copy.path, O_RDONLY)
      // A pipe whose reader has gone ends this process.
      unsafe unlink(copy.path)
      try take(file)
      return Backup(path: nil, status: status)
    }
  }

  /// Copies a finished backup, such as an agent hands on, to a path.
  /// - Throws: as `make`; as `UnnamedVault.fill(from:)`.
  package static func copy(_ file: File<StorageError>, to path: String, step: Step) throws {
    let new = try begin(at: path, besides: nil)
    try new.fill(from: file, step: step)
    try new.synchronize()
    guard try new.appear(at: path) else { throw LifecycleError(.backupExists, path) }
  }

  /// Before anybody is asked for anything: what lies at the path of a backup.
  /// - Parameter vault: The path of the vault; nil if it is not a file of this user.
  /// - Throws: `backupExists`, `isTheVault`, `nameOfTheVaults`.
  package static func checkFree(_ path: String, besides vault: String?) throws {
    if let vault, FileStore.isOwnFile(path, ofVaultAt: vault) { throw LifecycleError(.nameOfTheVaults, path) }
    guard let status = try Files.status(at: path) else { return }
    throw LifecycleError(try isFile(status, vault) ? .isTheVault : .backupExists, path)
  }

  /// Whether a file is the vault itself.
  static func isFile(_ status: FileStatus, _ vault: String?) throws -> Bool {
    try vault.flatMap { try Files.status(at: $0) }?.isSameFile(as: status) ?? false
  }

  private static func copy(
    to target: Target, of store: FileStore, _ fill: (borrowing UnnamedVault) throws -> Void
  ) throws -> UnnamedVault {
    let copy: UnnamedVault
    switch target {
    case .unnamed(let directory, _): return try directory.scratch(fill)
    case .file(let path): copy = try begin(at: path, besides: store.path)
    case .directory(let directory, _): copy = try directory.begin()
    }
    try fill(copy)
    return copy
  }

  /// A file that gets its name when it is complete. Files that killed processes have left for this name are removed.
  /// - Throws: `LifecycleError`: `backupExists`, `isTheVault`, `directoryMissing`; `StorageError`: `readOnly`, `accessDenied`, `full`, `io`.
  static func begin(at path: String, besides vault: String?) throws -> UnnamedVault {
    try checkFree(path, besides: vault)
    let (directory, name) = (Path.parent(of: path), Path.name(of: path))
    UnnamedVault.leftovers(in: directory, remove: true) { $0 == name }
    guard try Files.status(at: directory, followingLinks: true)?.kind == .directory else {
      throw LifecycleError(.directoryMissing, directory)
    }
    return try UnnamedVault(for: path)
  }

  /// The copy is closed when this returns.
  private static func status(of copy: borrowing UnnamedVault, _ check: (FileStore) throws -> Void) throws -> VaultStatus {
    let store = try copy.store()
    try check(store)
    return try Vault.inspect(store)
  }
}
