import CofferLifecycle
import CofferRequests
import CofferStorage
import CofferWire
import SecretMemory
import VaultCore
import VaultUpkeep

extension VaultAdministration {
  /// Other connections use the vault meanwhile, and meet the repair as the change of another process. No lock is held before the answer to
  /// the plan, which has to hold still when it is carried out.
  /// - Returns: the counts of the plan, and the outcome if something was repaired. The records were shown before.
  /// - Throws: `UnsoundVault` if the vault is not sound afterwards; as `owned`, `ForeignVault`, `Repair`.
  func repair(
    hasFile: Bool, acceptsUnproven: Bool, isTrial: Bool, by proof: borrowing Credential, _ session: UpkeepSession,
    _ allowed: () throws -> Void
  ) throws -> [Attributes] {
    var opened = try owned(by: proof)
    try allowed()
    let place = try RestorePlace(places, vaultAt: nil)
    let source = try hasFile ? staged(at: place, session) : nil
    let repair = Repair(
      of: try FileStore(at: place.vault), backups: place.backups, from: source, acceptsUnproven: acceptsUnproven)
    try session.begin("checking")
    let plan = try repair.plan(for: opened, step: session.step)
    for question in UpkeepQuestion.shown(plan.records.map(\.wireRow)) {
      guard try session.isAgreed(question) else { throw Self.declined }
    }
    guard !plan.isSound, !isTrial else { return [plan.wireRow] }
    guard try session.isAgreed(UpkeepQuestion(.agreement, [plan.wireRow])) else { throw Self.declined }
    let lock = try MaintenanceLock(forVaultAt: place.vault)
    defer { withExtendedLifetime(lock) {} }
    try session.begin("copying")
    let kept = try repair.backUp(now: Self.now, step: session.step)
    try session.begin("repairing")
    let unreported = try repair.carryOut(plan, on: &opened, keeping: kept, now: Self.now, step: session.step)
    try session.begin("checking")
    let result = try opened.verify(progress: session.step)
    try opened.close()
    guard result.isIntact else { throw UnsoundVault(VaultCheck(result)) }
    let outcome = RepairOutcome(kept: kept, recordCount: result.recordCount, reportFailure: unreported.map { "\($0)" })
    return [plan.wireRow, outcome.wireRow]
  }
}
