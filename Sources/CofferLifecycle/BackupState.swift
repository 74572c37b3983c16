import CofferFiles
package import CofferStorage
package import VaultCore

/// The state of the backups of a vault, according to the files beside it.
package struct BackupState: Equatable, Sendable {
  /// The path of the newest backup in the directory that has those without a name, if it is a vault.
  package var newest: String?
  package var newestTime: Timestamp?
  /// The last `restore --dry-run` that went well.
  package var trial: Timestamp?
  /// Files that killed commands have left.
  package var leftovers: [String] = []
  /// Whether a restore was not finished.
  package var hasIntent = false
  package var hasVault = true
  package var directory = ""

  package init() {}

  /// Returns nil if there is no vault, and none whose restore was not finished.
  package init?(ofVaultAt path: String, _ places: Places, at now: Timestamp) throws {
    let vault = places.resolvedPath(ofVaultAt: path)
    hasVault = try Files.status(at: vault) != nil
    hasIntent = try Files.status(at: places.anchors(forVaultAt: vault).intentPath()) != nil
    guard hasVault || hasIntent else { return nil }
    let name = Path.name(of: vault)
    let backups = BackupDirectory(at: places.backups(forVaultAt: vault))
    directory = backups.path
    let usable = backups.newestUsable(at: now)
    newest = usable.map { backups.path(of: $0) }
    newestTime = usable?.time
    trial = try Drill.last(in: places)
    leftovers =
      backups.leftovers(remove: false) + UnnamedVault.leftovers(in: Path.parent(of: vault), remove: false) { $0 == name }
  }
}
