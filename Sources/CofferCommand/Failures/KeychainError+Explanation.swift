internal import Coffer
internal import CofferApps
package import CofferConsole
internal import CofferFiles
internal import CofferRequests
internal import CofferStorage
internal import VaultCore

extension KeychainError: Explained {
  package var explanation: Explanation {
    let cause = causeName
    return VaultExplanations.all[VaultError.Code(cause)]
      ?? StorageError.Code(rawValue: cause).map { StorageError($0).explanation } ?? KeychainExplanations.all[cause]
      ?? AppsError.Code(rawValue: cause).map { AppsError($0).explanation }
      ?? FileError.Code(rawValue: cause).map { FileError($0).explanation } ?? KeychainExplanations.all[code.name]
      ?? Explanation(.other, cause)
  }
}

/// Errors of the keychain that are not the vault's: why the agent refuses, and why it cannot be asked. By cause, then by code.
enum KeychainExplanations {
  static let all: [String: Explanation] = [
    "locked": .init(.locked, "the vault is locked", "coffer vault unlock"),
    "groupOfTeam": .init(
      .denied, "belongs to a team's apps",
      "open the vault with its passphrase (--no-agent), or let the command in for good: coffer app grant coffer GROUP --read --list"
    ),
    "gate": .init(.denied, "the agent refuses it", "to open the vault here: --no-agent"),
    "confirmationNeeded": .init(.locked, "its owner wants to be asked, and nobody can be asked or has answered"),
    "quotaExceeded": .init(
      .denied, "programs may add no more to this vault",
      "remove items, or add as the owner, who is not limited: --passphrase-fd N"),
    "confirmationRefused": .init(.denied, "its owner was asked, and refused"),
    "wrongCredential": .init(.wrongPassphrase, "wrong passphrase, key file or recovery key"),
    "notAllowed": .init(.usage, "is not allowed"),
    "integrity": .init(.integrity, "the vault is not what its keys say", "coffer vault verify lists what is wrong"),
    "otherDevice": .init(.locked, "was sealed on another device"),
    "agent": .init(
      .inputOutput, "the agent cannot be asked", "to start it: coffer vault unlock; that of the system: its socket unit, as root"),
    "agentNotAnswering": .init(
      .inputOutput, "the agent does not answer: it was stopped, or hangs",
      "kill -CONT lets it go on, and it may still do what was asked; kill -KILL ends it"),
    "conflict": .init(.inputOutput, "somebody else changes it all the time", "try again"),
    "inDoubt": .init(
      .inputOutput, "nobody can say whether the change was made", "look before you try again: coffer secret list"),
    "storage": .init(.inputOutput, "the vault's file cannot be used"),
    "auditLog": .init(
      .inputOutput, "the agent cannot write the audit log, and does nothing that it cannot log",
      "coffer doctor says whether the log is whole; is the disk full?"),
    "memory": .init(.other, "the memory for secrets cannot be had"),
  ]
}
