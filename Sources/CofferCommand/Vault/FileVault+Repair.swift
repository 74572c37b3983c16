import CofferConsole
import CofferLifecycle
import CofferStorage
import CofferWire
import Explanations
import SecretMemory
import VaultCore
import VaultUpkeep

extension FileVault {
  func repair(
    from: String?, acceptsUnproven: Bool, isTrial: Bool, _ dialogue: RepairDialogue
  ) throws -> RepairOutcome? {
    let place = try options.openPlace()
    let work = try LongWork("reading")
    let source = try from.map { try staged($0, besides: place.store.path, in: place.backups, work) }
    try work.pause()
    let lock = try isTrial ? nil : about(place.path) { try MaintenanceLock(forVaultAt: place.path) }
    defer { withExtendedLifetime(lock) {} }
    var opened = try openForRepair(place)
    let repair = Repair(of: place.store, backups: place.backups, from: source, acceptsUnproven: acceptsUnproven)
    try work.begin("checking")
    let plan = try about(place.path) { try repair.plan(for: opened, step: work.step) }
    try work.pause()
    guard !plan.isSound, !isTrial else {
      opened.finish()
      try dialogue.show(plan)
      return nil
    }
    try dialogue.show(plan)
    try dialogue.ask()
    try work.begin("copying")
    let kept: String
    do { kept = try repair.backUp(now: .now(), step: work.step) } catch { throw VaultRepair.unkept(error, place.path) }
    try work.begin("repairing")
    let unreported = try about(place.path) {
      try repair.carryOut(plan, on: &opened, keeping: kept, now: .now(), step: work.step)
    }
    try work.begin("checking")
    let result = try about(place.path) {
      try opened.verify { done, total in do { try work.step(done, of: total) } catch { throw VaultRepair.interrupted } }
    }
    work.end()
    opened.finish()
    guard result.isIntact else { throw Failure.unsound(result, about: place.path, hint: Hints.backup) }
    return RepairOutcome(
      kept: kept, recordCount: result.recordCount, reportFailure: unreported.map { Failure($0).message })
  }

  /// A copy of the vault, such as the backup that a repair has made, may be older than what was seen elsewhere: it is repaired all the
  /// same, and the state that was seen stays the newest one.
  private func openForRepair(_ place: VaultPlace) throws -> Vault {
    try options.withCredential(for: place) { credential in
      do { return try options.open(place, with: credential) } catch {
        guard let refused = error as? VaultError, [.rolledBack, .forked].contains(refused.code) else { throw error }
        let copy = try options.open(place, with: credential, isCopy: true)
        guard case .refused(let rollback) = copy.rollbackCheck, !rollback.wasSeenHere else { throw error }
        return copy
      }
    }
  }
}
