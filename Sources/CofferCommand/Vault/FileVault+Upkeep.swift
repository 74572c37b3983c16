import CofferConsole
import CofferLifecycle
import CofferStorage
import CofferWire
import SecretMemory
import VaultCore
import VaultUpkeep

extension FileVault {
  func policy(setting changes: [Limits.Name: UInt64]) throws -> VaultPolicyReport {
    let place = try options.openPlace()
    var opened = try options.open(place)
    let report = try about(place.path) {
      guard !changes.isEmpty else {
        do { return VaultPolicyReport(try opened.limits()) } catch let error as VaultError {
          throw error.code.concernsOneRecord ? Failure.damagedPolicy(error) : error
        }
      }
      let (limits, wasDamaged) = try opened.setLimits(changes)
      return VaultPolicyReport(limits, wasDamaged: wasDamaged)
    }
    opened.finish()
    return report
  }

  func acceptRollback(_ confirm: (VaultCheck.Rollback) throws -> Void) throws -> VaultCheck.Rollback? {
    let place = try options.openPlace()
    return try options.withCredential(for: place) { credential in
      try Vault.acceptRollback(place.store, with: credential, ceiling: options.ceiling, anchor: place.anchor) {
        try confirm(VaultCheck.Rollback($0))
      }.map { VaultCheck.Rollback($0) }
    }
  }

  func verify() throws -> VaultCheck {
    let place = try options.openPlace()
    let opened = try options.open(place, isCopy: true)
    let work = try LongWork("checking")
    defer { work.end() }
    return try about(place.path) { VaultCheck(try opened.verify { try work.step($0, of: $1) }, opened.rollbackCheck) }
  }
}
