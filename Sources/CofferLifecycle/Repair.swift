import CofferFiles
package import CofferStorage
import Glibc
import SecretMemory
package import VaultCore
package import VaultUpkeep

/// The repair of a damaged vault: a plan to be agreed to, a backup, and the vault that is built anew.
package struct Repair {
  private let vault: FileStore
  private let backups: BackupDirectory
  private let source: FileStore?
  private let acceptsUnproven: Bool

  /// - Parameters:
  ///   - source: A backup of the vault, from which lost records are taken.
  ///   - acceptsUnproven: Whether records are kept that open and are not proven.
  package init(of vault: FileStore, backups: BackupDirectory, from source: FileStore?, acceptsUnproven: Bool) {
    (self.vault, self.backups, self.source, self.acceptsUnproven) = (vault, backups, source, acceptsUnproven)
  }

  /// Lists what would not stay as it is. Nothing is changed.
  /// - Throws: as `Vault.repairPlan`; the errors of `step`.
  package func plan(for opened: borrowing Vault, step: @escaping Backup.Step) throws -> RepairPlan {
    try opened.repairPlan(from: source, acceptsUnproven: acceptsUnproven, progress: step)
  }

  /// Keeps the vault as it is. Without this backup nothing is repaired.
  /// - Returns: the path of the backup.
  /// - Throws: as `Backup.make`.
  package func backUp(now: Timestamp, step: Backup.Step) throws -> String {
    let backup = try Backup.make(
      of: vault, at: .directory(backups, .repair), now: now, acceptsDamage: true, step: step)
    return backup.path ?? backups.path
  }

  /// Carries out a plan that was agreed to, if it still holds.
  /// - Throws: `repairPlanOutdated`; as `Vault.repair`; the errors of `step`. After each of them nothing is changed.
  package func carryOut(_ plan: RepairPlan, on opened: inout Vault, step: @escaping Backup.Step) throws {
    try opened.repair(plan, from: source, acceptsUnproven: acceptsUnproven, progress: step)
  }

  /// Notes the outcome beside the backup, without names, because the file is not sealed, and removes the oldest backups.
  /// - Parameter kept: The path of the backup.
  package func finish(_ plan: RepairPlan, keeping kept: String) throws {
    let lines = plan.records.map { "\($0.id)\t\($0.outcome.rawValue)\t\($0.reason?.name ?? "")\n" }
    let report = try File<StorageError>("\(kept).repair", O_WRONLY | O_CREAT | O_EXCL)
    try report.setMode(0o600)
    try report.write(Array(lines.joined().utf8))
    backups.prune(keeping: [kept] + (source.map { [$0.path] } ?? []))
  }
}
