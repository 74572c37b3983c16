import CofferFiles
package import CofferStorage

/// The path of a vault, and what lies beside it for a restore. There need not be a vault.
package struct RestorePlace {
  package let vault: String
  package let backups: BackupDirectory
  let anchors: AnchorFiles
  let agentLock: String
  let drill: String
  let places: Places

  /// - Parameter path: nil: the user's own vault.
  /// - Throws: `symbolicLink` if the vault is one; `notAFile` for a directory or a device.
  package init(_ places: Places, vaultAt path: String?) throws {
    vault = places.resolvedPath(ofVaultAt: path ?? places.vault)
    let kind = try Files.status(at: vault)?.kind
    guard kind != .link else { throw StorageError(.symbolicLink, vault) }
    guard kind == nil || kind == .file else { throw StorageError(.notAFile, vault) }
    backups = BackupDirectory(at: places.backups(forVaultAt: vault))
    anchors = places.anchors(forVaultAt: vault)
    agentLock = places.agentLock(forVaultAt: vault)
    drill = Drill.path(in: places)
    self.places = places
  }

  /// The files that SQLite keeps beside the vault, and the vault itself last.
  var files: [String] { ["-wal", "-journal", "-shm", ""].map { vault + $0 } }

  /// Those of them that are there.
  func present() throws -> [String] { try files.filter { try Files.status(at: $0) != nil } }
}
