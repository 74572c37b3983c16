import CofferFiles
package import CofferStorage
package import VaultCore

/// The state of the backups of a vault, according to the files beside it.
package struct BackupState: Equatable, Sendable {
  /// The path of the newest backup in the directory that has those without a name, if it is a vault.
  package var newest: String?
  package var newestTime: Timestamp?
  /// Whether the newest backup was made before the present master key, as their headers have it.
  package var newestHasOlderKeys = false
  /// The last `restore --dry-run` that went well.
  package var trial: Timestamp?
  /// Whether as many backups as stay were made since: damage that none of them was without would have pushed out every sound one.
  package var trialPrecedesBackups = false
  /// The directories into which restores have moved files that could not be read. Nothing removes them but a person.
  package var putAside: [String] = []
  /// Files that killed commands have left.
  package var leftovers: [String] = []
  /// The backups of rotations that were not finished.
  package var unfinishedRotations: [String] = []
  /// Whether a restore was not finished.
  package var hasIntent = false
  package var hasVault = true
  package var directory = ""

  package init() {}

  /// Returns nil if there is neither a vault nor a backup of one, nor one whose restore was not finished.
  package init?(ofVaultAt path: String, _ places: Places, at now: Timestamp) throws {
    let vault = places.resolvedPath(ofVaultAt: path)
    hasVault = try Files.status(at: vault) != nil
    hasIntent = try Files.status(at: places.anchors(forVaultAt: vault).intentPath()) != nil
    let name = Path.name(of: vault)
    let backups = BackupDirectory(at: places.backups(forVaultAt: vault))
    guard hasVault || hasIntent || !backups.paths.isEmpty else { return nil }
    directory = backups.path
    let usable = backups.newestUsable(at: now)
    newest = usable.map { backups.path(of: $0) }
    newestTime = usable?.time
    newestHasOlderKeys = newest.map { Self.masterEpoch($0) < Self.masterEpoch(vault) } ?? false
    trial = try Drill.last(in: places)
    trialPrecedesBackups = trial.map { backups.isFull(ofBackupsSince: $0) } ?? false
    putAside = backups.putAside
    unfinishedRotations = backups.unfinishedRotations
    leftovers =
      backups.leftovers(remove: false) + UnnamedVault.leftovers(in: Path.parent(of: vault), remove: false) { $0 == name }
  }

  /// 0 for a file that cannot be read.
  private static func masterEpoch(_ path: String) -> UInt32 {
    (try? Vault.inspect(FileStore(unchangingAt: path)).masterEpoch) ?? 0
  }
}
