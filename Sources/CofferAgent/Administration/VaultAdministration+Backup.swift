import CofferFiles
import CofferLifecycle
import CofferRequests
import CofferStorage
import CofferWire
import SecretMemory
import VaultCore
import VaultUpkeep

extension VaultAdministration {
  /// For `coffer doctor`, without a credential: dates and a path, which are also in the log.
  func backupState() throws -> BackupState? { try BackupState(ofVaultAt: places.vault, places, at: Self.now) }

  /// - Throws: `UnsoundVault` if the copy is not sound; `missingEntitlement` without a credential to all but root; as `Backup.make`.
  func backup(
    _ isHandedOn: Bool, _ isVerified: Bool, by proof: consuming Credential?, _ session: UpkeepSession,
    _ allowed: () throws -> Void
  ) throws -> VaultBackupReport {
    let store = try FileStore(at: places.vault)
    let prover = try prover(of: store, proof, isRoot: session.isRoot)
    guard !isVerified || prover != nil else { throw KeychainError(.notAllowed, "a verification takes a credential") }
    try allowed()
    try session.begin("copying")
    let target: Backup.Target = isHandedOn ? .unnamed(backups) { try session.hand($0.number) } : .directory(backups)
    let backup = try Backup.make(of: store, at: target, now: Self.now, step: session.step) { copy in
      guard let prover, isVerified else { return }
      try session.begin("checking")
      let result = try copy.read { try prover.verify($0, progress: session.step) }
      guard result.isIntact else { throw UnsoundVault(VaultCheck(result)) }
    }
    let removed = backup.path.map { backups.prune(keeping: [$0]) } ?? []
    return VaultBackupReport(backup.status, at: backup.path, wasVerified: isVerified, removed: removed)
  }

  /// nil without a credential.
  private func prover(of store: FileStore, _ proof: consuming Credential?, isRoot: Bool) throws -> RestoredVault? {
    guard let proof else {
      guard isRoot else { throw KeychainError(.missingEntitlement, cause: .gate, "only the owner, or root") }
      return nil
    }
    // An older state than the last one is worth a copy too.
    _ = try owned(by: proof, isCopy: true)
    let prover = try RestoredVault(opening: store, with: proof)
    try places.deviceKeys(of: prover.keys.vault).open(prover, in: store)
    return prover
  }
}
