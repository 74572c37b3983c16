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
    let work = try LongWork("reading")
    let source = try from.map { try staged($0, besides: place.store.path, in: place.backups, work) }
    try work.pause()
    let lock = try isTrial ? nil : about(place.path) { try MaintenanceLock(forVaultAt: place.path) }
    defer { withExtendedLifetime(lock) {} }
    var opened = try options.open(place)
    let repair = Repair(of: place.store, backups: place.backups, from: source, acceptsUnproven: acceptsUnproven)
    try work.begin("checking")
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
    let unreported = try VaultRepair.naming(place.path) {
      try repair.carryOut(plan, on: &opened, keeping: kept, step: work.step)
    }
    try work.begin("checking")
    let result = try VaultRepair.naming(place.path) {
      try opened.verify { done, total in do { try work.step(done, of: total) } catch { throw VaultRepair.interrupted } }
    }
    work.end()
    opened.finish()
    guard result.isSound else { throw Failure.unsound(result, about: place.path, hint: Hints.backup) }
    return RepairOutcome(
      kept: kept, recordCount: result.recordCount, reportFailure: unreported.map { Failure($0).message })
  }
}
