import Coffer
import CofferConsole
import CofferFiles
import CofferStorage
import Glibc

extension VaultOptions {
  /// The agent's keychain, where nothing says how else the vault is to be opened, and the agent has it open.
  func agent() throws -> Keychain? {
    try prepare()
    guard !namesCredential else { return nil }
    let keychain = try Keychain.connectCommand(toAgentAt: socket())
    switch try keychain.agentStateIfThere() {
    case .unlocked: return keychain
    // Items of the classes "after first unlock" can be read while it is locked; a person can open the rest.
    case .lockedAfterUnlock: return isAnybodyThere ? nil : keychain
    case .locked, nil: return nil
    }
  }

  /// On which the agent of this vault listens.
  func socket() throws -> String {
    let places = try Places { Environment[$0] }
    // A fault of the file is reported before any question is asked. An agent that has such a file open can be stopped.
    if let vault { try about(vault) { do { _ = try FileStore(at: vault) } catch StorageError(.migrationNeeded) {} } }
    return places.answeringAgentSocket(forVaultAt: vault)
  }

  /// Whether an option names a credential.
  var namesCredentialOption: Bool {
    keyFile != nil || passphraseDescriptor != nil || recoveryKey || recoveryKeyDescriptor != nil
  }

  /// Whether an option or the service manager names a credential.
  var namesCredential: Bool {
    namesCredentialOption || Environment[ServiceCredentials.directoryVariable]?.utf8.first == UInt8(ascii: "/")
  }

  var isAnybodyThere: Bool {
    guard !noInput else { return false }
    let terminal = unsafe Glibc.open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard terminal >= 0 else { return false }
    close(terminal)
    return true
  }
}

extension Keychain {
  /// A command may have hidden itself, because it holds secrets, before it asks for more.
  static func connectCommand(toAgentAt path: String) throws -> Keychain {
    try connect(toAgentAt: path, visibility: Visibility(isForEachRequest: true))
  }
}
