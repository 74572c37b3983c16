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
  private let source: ForeignVault?
  private let acceptsUnproven: Bool

  /// - Parameters:
  ///   - source: A backup of the vault, from which lost records are taken.
  ///   - acceptsUnproven: Whether records are kept that open and are not proven.
  package init(of vault: FileStore, backups: BackupDirectory, from source: ForeignVault?, acceptsUnproven: Bool) {
    (self.vault, self.backups, self.source, self.acceptsUnproven) = (vault, backups, source, acceptsUnproven)
  }

  /// Lists what would not stay as it is. Nothing is changed.
  /// - Throws: as `Vault.repairPlan`; the errors of `step`.
  package func plan(for opened: borrowing Vault, step: @escaping Backup.Step) throws -> RepairPlan {
    try opened.repairPlan(from: source?.store, acceptsUnproven: acceptsUnproven, progress: step)
  }

  /// Keeps the vault as it is. Without this backup nothing is repaired.
  /// - Returns: the path of the backup.
  /// - Throws: as `Backup.make`.
  package func backUp(now: Timestamp, step: Backup.Step) throws -> String {
    let backup = try Backup.make(
      of: vault, at: .directory(backups, .repair), now: now, acceptsDamage: true, step: step)
    return backup.path ?? backups.path
  }

  /// Carries out a plan that was agreed to, if it still holds. Before, it notes the outcome beside the backup, without names, because the file
  /// is not sealed: a process that is killed after the commit leaves the report. At the end it removes the oldest backups.
  /// - Parameters:
  ///   - kept: The path of the backup, which is removed if nothing is changed.
  ///   - now: The time of a group that is made.
  /// - Returns: why the report could not be written, if so. The vault is repaired.
  /// - Throws: `repairPlanOutdated`; as `Vault.repair`; the errors of `step`. After each of them but `inDoubt` nothing is changed.
  package func carryOut(
    _ plan: RepairPlan, on opened: inout Vault, keeping kept: String, now: Timestamp, step: @escaping Backup.Step
  ) throws -> StorageError? {
    var unreported: StorageError?
    do throws(StorageError) { try write(plan, to: BackupDirectory.report(of: kept)) } catch { unreported = error }
    do {
      try opened.repair(plan, from: source?.store, acceptsUnproven: acceptsUnproven, at: now, progress: step) {
        transaction, kept in
        if !plan.records.isEmpty { try transaction.removeSyncPlaces(among: kept) }
      }
    } catch {
      if !(StorageError(.inDoubt) ~= error) { try? backups.remove(kept) }
      throw error
    }
    backups.prune(keeping: [kept] + (source?.path.map { [$0] } ?? []))
    return unreported
  }

  private func write(_ plan: RepairPlan, to path: String) throws(StorageError) {
    let report = try File<StorageError>(path, O_WRONLY | O_CREAT | O_EXCL)
    do throws(StorageError) {
      try report.setMode(0o600)
      try report.write(plan.records.flatMap { Array("\($0.id)\t\($0.outcome.rawValue)\t\($0.reason?.name ?? "")\n".utf8) })
    } catch {
      unsafe unlink(path)
      throw error
    }
  }
}
