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
    case .missingEntitlement, .confirmationNeeded, .confirmationRefused, .appNotInstalled: self = .accessDenied(error.sentence)
    // Names are checked before: what the vault refuses then is too long.
    case .full, .quotaExceeded, .memory, .notAllowed: self = .limitsExceeded(error.sentence)
    case .duplicate, .wrongCredential, .otherDevice, .noVault, .integrity, .conflict, .agent, .agentNotAnswering,
      .busy, .storage, .inDoubt, .newerFormat, .masterKeyChanged:
      self = .failed(error.sentence)
    }
  }
}

extension KeychainError {
  /// For the people who use a client: it shows the text of an error as it is.
  fileprivate var sentence: String {
    switch code.kind {
    case .locked: "The keyring is locked"
    case .notFound: "The object does not exist"
    case .missingEntitlement, .appNotInstalled: "The agent of Coffer does not allow this program to do it"
    case .confirmationNeeded: "The owner has to agree, and cannot be asked here, or has not answered"
    case .confirmationRefused: "The owner was asked, and has refused"
    case .full: "The disk or the vault is full"
    case .quotaExceeded: "Programs may add no more to the vault"
    case .memory: "There is not enough locked memory"
    case .notAllowed: "A label, an attribute, a type of the content or a secret is too long for the vault"
    case .duplicate: "There is one of this name already"
    case .wrongCredential: "The passphrase or key file does not open the vault"
    case .otherDevice: "The item was kept for another device"
    case .noVault: "There is no vault"
    case .integrity: "The vault is damaged, or was changed without its key"
    case .conflict: "Another program has changed it in between"
    case .agent: "The agent of Coffer has ended, or cannot be reached"
    case .agentNotAnswering: "The agent of Coffer does not answer"
    case .busy: "Another process uses the vault"
    case .storage: "The file of the vault cannot be used, or not now"
    case .inDoubt: "The change may have been made, or not: read it again"
    case .newerFormat: "The vault was written by a newer version of Coffer"
    case .masterKeyChanged: "The vault has new keys, and has to be unlocked again"
    }
  }
}
