import CofferAgent
import CofferAudit
import CofferFiles
import CofferStorage
import Glibc
import SecretMemory
import VaultCore

/// A credential of the service manager opens the vault: `coffer.key` or `coffer.passphrase` in `$CREDENTIALS_DIRECTORY`. A machine without a
/// person then serves its programs from the first moment, and after new keys.
extension Service {
  /// Opens the vault, unless nothing was handed over, or the vault is still to be made.
  ///
  /// An agent of the system starts locked if that fails, and reports why: what mends the vault is done by the agent alone.
  /// - Returns: Whether something was handed over.
  /// - Throws: As `openWithServiceCredential`, for an agent of the user.
  func unlockWithServiceCredential() throws -> Bool {
    do {
      guard try openWithServiceCredential() else { return false }
    } catch {
      guard isOfSystem else { throw error }
      report(error)
    }
    vault.reopen {
      do {
        _ = try openWithServiceCredential()
      } catch {
        report(error)
      }
    }
    return true
  }

  /// - Returns: Whether something was handed over.
  /// - Throws: `StartFailure` for a credential that does not open the vault; what opening it throws; as `ServiceCredentials.load`; what
  ///   can't be logged.
  private func openWithServiceCredential() throws -> Bool {
    guard let credential = try ServiceCredentials.load(environment: { Environment[$0] }) else { return false }
    do {
      try vault.unlock(credential) { try log.appendOwnUnlock(.allowed, "service credential") }
    } catch let error as StorageError where error.code == .noVault && isOfSystem {
      return true
    } catch let error as VaultError where error.code == .wrongCredential || error.code == .noSuchSlot {
      throw StartFailure(
        .wrongPassphrase, "$\(ServiceCredentials.directoryVariable): does not open the vault",
        hint: "coffer vault slot list shows which ways in there are")
    }
    return true
  }

  /// Why the vault stays locked.
  private func report(_ error: any Error) {
    let failure = StartFailure(error).ofLockedVault
    Cofferd.write("cofferd: \(failure.text)", to: STDERR_FILENO)
    try? log.appendOwnUnlock(.failed, "service credential: \(failure.message)")
  }
}

extension StartFailure {
  fileprivate var ofLockedVault: StartFailure {
    let ways = "coffer vault status, restore, repair and accept-rollback work for a locked vault"
    return StartFailure(
      status, "the vault stays locked: \(message)", hint: status == .integrity ? ways : hint ?? ways)
  }
}

extension DecisionLog {
  /// The agent itself has opened the vault, or could not.
  fileprivate func appendOwnUnlock(_ decision: AuditEntry.Decision, _ reason: String) throws {
    let caller = AuditEntry.Caller(user: geteuid(), process: getpid(), executable: "cofferd")
    try append(
      AuditEntry(at: Self.now(), decision, "agent.unlock", by: caller, because: reason).shortened, to: .decisions,
      isMerged: false, isSynced: true)
  }
}
