internal import AccessRights
internal import Coffer
internal import CofferApps
package import CofferConsole
internal import CofferFiles
internal import CofferLifecycle
internal import CofferRequests
internal import CofferStorage
internal import SecretMemory
internal import VaultCore

extension KeychainError: Explained {
  package var explanation: Explanation {
    switch cause {
    case .vault(let code): VaultExplanations.all[code] ?? self.code.explanation
    case .storage(let code): StorageError(code).explanation
    case .apps(let name): AppsError.Code(rawValue: name).map { AppsError($0).explanation } ?? code.explanation
    case .containers(let name): FileError.Code(rawValue: name).map { FileError($0).explanation } ?? code.explanation
    case .lifecycle(let name): LifecycleError.Code(rawValue: name).map { LifecycleError($0).explanation } ?? code.explanation
    case .groupOfTeam:
      .init(
        .denied, "belongs to a team's apps",
        "open the vault with its passphrase or key file (--no-agent), or let the command in for good: "
          + "coffer app grant coffer GROUP --read --list")
    case .gate: .init(.denied, "the agent refuses it", "to open the vault here: --no-agent")
    case .systemGate:
      .init(
        .denied, "the system's agent refuses it",
        self.code == .notAllowed
          ? "as root: systemctl stop cofferd@UID.service"
          : "to prove the owner: \(Self.ownerOptions); the owner lets other programs in: coffer access allow")
    case .auditLog:
      .init(
        .inputOutput, "the agent cannot write the audit log, and does nothing that it cannot log",
        "coffer doctor says whether the log is whole; is the disk full?")
    case .code, .absentAgent: code.explanation
    }
  }
}

extension KeychainError {
  fileprivate static let ownerOptions = "--passphrase-fd N, --key-file FILE or --recovery-key-fd N"
}

extension KeychainError.Code {
  /// Codes that the vault or the storage has as well share their explanations.
  fileprivate var explanation: Explanation {
    switch kind {
    case .locked: VaultError(.locked).explanation
    case .missingEntitlement: VaultError(.missingEntitlement).explanation
    case .notFound: VaultError(.notFound).explanation
    case .duplicate: VaultError(.duplicate).explanation
    case .masterKeyChanged: VaultError(.masterKeyChanged).explanation
    case .appNotInstalled: VaultError(.appNotInstalled).explanation
    case .wrongCredential: VaultError(.wrongCredential).explanation
    case .newerFormat: VaultError(.newerFormat).explanation
    case .noVault: StorageError(.noVault).explanation
    case .busy: StorageError(.busy).explanation
    case .full: StorageError(.full).explanation
    case .inDoubt: StorageError(.inDoubt).explanation
    case .confirmationNeeded:
      .init(
        .locked, "the owner has to agree, and cannot be asked or has not answered",
        "try again when the owner can answer; or prove to be the owner: \(KeychainError.ownerOptions)")
    case .confirmationRefused: .init(.denied, "its owner was asked, and refused")
    case .quotaExceeded:
      .init(
        .denied, "programs may add no more to this vault",
        "the owner has no limit, and makes room for good: coffer secret purge --deleted --passphrase-fd N, or --key-file FILE")
    case .notAllowed: .init(.usage, "is not allowed")
    case .integrity: .init(.integrity, "the vault does not match its keys", Hints.damage)
    case .otherDevice: .init(.locked, "was sealed on another device")
    case .agent:
      .init(
        .inputOutput, "the agent cannot be asked",
        "to start it: coffer vault unlock; that of the system: its socket unit, as root")
    case .agentNotAnswering:
      .init(
        .inputOutput, "the agent does not answer: it was stopped, or hangs",
        "kill -CONT lets it go on, and it may still do what was asked; kill -KILL ends it")
    case .conflict: .init(.inputOutput, "other programs change it all the time", "try again")
    case .storage: .init(.inputOutput, "the vault's file cannot be used")
    case .memory: .init(.other, "the memory for secrets cannot be had")
    }
  }
}
