import CofferConsole
import CofferLifecycle
import CofferStorage
import CofferWire
import SecretMemory
import VaultCore
import VaultUpkeep

extension FileVault {
  func repair(
    from: String?, acceptsUnproven: Bool, isTrial: Bool, _ dialogue: RepairDialogue
  ) throws -> RepairOutcome? {
    let place = try options.openPlace()
    let source = try from.map { path in try about(path) { try FileStore(at: path) } }
    let lock = try isTrial ? nil : about(place.path) { try MaintenanceLock(forVaultAt: place.path) }
    defer { withExtendedLifetime(lock) {} }
    var opened = try options.open(place)
    let repair = Repair(of: place.store, backups: place.backups, from: source, acceptsUnproven: acceptsUnproven)
    let work = try LongWork("checking")
    let plan = try VaultRepair.naming(place.path) { try repair.plan(for: opened, step: work.step) }
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
    try VaultRepair.naming(place.path) { try repair.carryOut(plan, on: &opened, step: work.step) }
    try work.begin("checking")
    let result = try VaultRepair.naming(place.path) {
      try opened.verify { done, total in do { try work.step(done, of: total) } catch { throw VaultRepair.interrupted } }
    }
    work.end()
    opened.finish()
    guard result.isSound else { throw Failure.unsound(result, about: place.path, hint: Hints.backup) }
    try repair.finish(plan, keeping: kept)
    return RepairOutcome(kept: kept, recordCount: result.recordCount)
  }
}
