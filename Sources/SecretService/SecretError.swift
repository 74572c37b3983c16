import CofferRequests
import MessageBus

extension BusError {
  private static let prefix = "org.freedesktop.Secret.Error."

  static let isLocked = BusError(prefix + "IsLocked", "The keyring is locked")
  static let noSession = BusError(prefix + "NoSession", "The session does not exist, or is another program's")
  static let noSuchObject = BusError(prefix + "NoSuchObject", "The object does not exist")

  /// The error of the bus for an error of the keychain. The texts hold no value.
  init(_ error: any Error) {
    if let error = error as? BusError {
      self = error
      return
    }
    let error = KeychainError(error)
    switch error.code.kind {
    case .locked: self = .isLocked
    // No agent runs, so no vault is open.
    case .agent where error.cause == .absentAgent: self = .isLocked
    case .notFound: self = .noSuchObject
    case .missingEntitlement, .confirmationNeeded, .confirmationRefused, .appNotInstalled: self = .accessDenied(error.code.name)
    // Names are checked before: what the vault refuses then is too long.
    case .full, .quotaExceeded, .memory, .notAllowed: self = .limitsExceeded(error.code.name)
    case .duplicate, .wrongCredential, .otherDevice, .noVault, .integrity, .conflict, .agent, .agentNotAnswering,
      .busy, .storage, .inDoubt, .newerFormat, .masterKeyChanged:
      self = .failed(error.causeName)
    }
  }
}
