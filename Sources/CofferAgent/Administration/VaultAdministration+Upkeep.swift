import CofferLifecycle
import CofferRequests
import CofferStorage
import CofferWire
import SecretMemory
import VaultCore
import VaultUpkeep

/// Work on the whole vault, by the code that a command uses for a file of its user's. Each request opens the vault anew: others use the vault
/// that the agent has open meanwhile, and meet its changes as those of another process.
extension VaultAdministration {
  /// - Parameter allowed: Called when the credential was proven, before anything is done.
  /// - Throws: `KeychainError`; `FrameChannel.Failure`, `WireError` if the client has gone, or does not speak the protocol.
  func carryOut(_ request: consuming UpkeepRequest, _ session: UpkeepSession, allowed: () throws -> Void) throws -> Answer {
    do {
      switch consume request {
      case .policy(let proof):
        let opened = try owned(by: proof)
        try allowed()
        return .rows(VaultPolicyReport(try opened.limits()).wireRows)
      case .setPolicy(let limits, let proof):
        var opened = try owned(by: proof)
        try allowed()
        let (set, wasDamaged) = try opened.setLimits(limits)
        try opened.close()
        return .rows(VaultPolicyReport(set, wasDamaged: wasDamaged).wireRows)
      case .verify(let proof):
        let opened = try owned(by: proof, isCopy: true)
        try allowed()
        try session.begin("checking")
        return .rows(VaultCheck(try opened.verify(progress: session.step), opened.rollbackCheck).wireRows)
      case .acceptRollback(let proof):
        return try acceptRollback(by: proof, session, allowed)
      case .backup(let isHandedOn, let isVerified, let proof):
        return .rows(try backup(isHandedOn, isVerified, by: proof, session, allowed).wireRows)
      case .restore(let hasFile, let isTrial, let proof):
        return .rows(try restore(hasFile: hasFile, isTrial: isTrial, by: proof, session, allowed))
      case .repair(let hasFile, let acceptsUnproven, let isTrial, let proof):
        return .rows(
          try repair(hasFile: hasFile, acceptsUnproven: acceptsUnproven, isTrial: isTrial, by: proof, session, allowed))
      case .rotate(let order, let proof):
        return .rows(try rotate(order, by: proof, session, allowed).wireRows)
      }
    } catch let unsound as UnsoundVault {
      return .rows(unsound.wireRows)
    } catch let damaged as DamagedVault {
      return .rows(UnsoundVault(VaultCheck(damaged.verification)).wireRows)
    } catch let error as LifecycleError {
      throw KeychainError(.notAllowed, cause: .lifecycle(error.code.rawValue), error.detail)
    }
  }

  /// - Returns: The rollback that was accepted, or no row if there was none.
  private func acceptRollback(
    by proof: borrowing Credential, _ session: UpkeepSession, _ allowed: () throws -> Void
  ) throws -> Answer {
    _ = try owned(by: proof, isCopy: true)
    let store = try FileStore(at: places.vault)
    let accepted = try Vault.acceptRollback(store, with: proof, anchor: places.anchors(forVaultAt: store.path)) { rollback in
      let row = VaultCheck.Rollback(rollback).wireRow
      guard try session.isAgreed(UpkeepQuestion(.agreement, [row])) else { throw KeychainError(.confirmationRefused) }
      try allowed()
    }
    return .rows(accepted.map { [VaultCheck.Rollback($0).wireRow] } ?? [])
  }

  /// The directory of the agent's backups.
  var backups: BackupDirectory {
    BackupDirectory(at: places.backups(forVaultAt: places.resolvedPath(ofVaultAt: places.vault)))
  }

  /// - Parameter isCopy: As `Vault.open` has it.
  /// - Throws: `missingEntitlement` for a key file that lies there for programs, as `Vault.open`.
  func owned(by proof: borrowing Credential, isCopy: Bool = false) throws -> Vault {
    let store = try FileStore(at: places.vault)
    let opened = try Vault.open(store, with: proof, anchor: places.anchors(forVaultAt: store.path), isCopy: isCopy)
    try places.deviceKeys(of: opened.keys.vault).open(opened)
    guard try opened.isOpenedByOwner() else { throw Self.notOwner }
    return opened
  }
}
