import CofferAgent
import CofferAudit
import CofferFiles
import CofferStorage
import Glibc
import SecretMemory
import VaultCore

/// At the start, what a service manager has handed over opens the vault: `coffer.key` or `coffer.passphrase` in
/// `$CREDENTIALS_DIRECTORY`. A machine without a person then serves its programs from the first moment.
extension Service {
  /// Does nothing if nothing was handed over, or if the vault is still to be made.
  /// - Throws: `StartFailure` for a credential that does not open the vault; as `ServiceCredentials.load`; what can't be logged.
  func unlockWithServiceCredential() throws {
    guard let credential = try ServiceCredentials.load(environment: { Environment[$0] }) else { return }
    do {
      try vault.unlock(credential) { try log.appendOwnUnlock() }
    } catch let error as StorageError where error.code == .noVault && watched == nil {
      return
    } catch let error as VaultError where error.code == .wrongCredential || error.code == .noSuchSlot {
      throw StartFailure(
        .wrongPassphrase, "$\(ServiceCredentials.directoryVariable): does not open the vault",
        hint: "coffer vault slot list shows which ways in there are")
    }
  }
}

extension DecisionLog {
  /// The agent itself has opened the vault.
  fileprivate func appendOwnUnlock() throws {
    let caller = AuditEntry.Caller(user: geteuid(), process: getpid(), executable: "cofferd")
    try append(
      AuditEntry(at: Self.now(), .allowed, "agent.unlock", by: caller, because: "service credential"), to: .decisions,
      isMerged: false, isSynced: true)
  }
}
