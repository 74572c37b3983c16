import Coffer
import CofferConsole
import CofferFiles
import CofferStorage
import Glibc

/// The vault that an agent keeps where this user's programs cannot read it. It is there to be asked, and not to be opened.
extension VaultOptions {
  /// Its name in messages.
  static let systemVault = "the system's vault"

  /// Returns nil if the vault is a file of the user.
  func systemAgent() throws -> Keychain? {
    try prepare()
    guard system else {
      return try vault == nil && SystemAgent.isUsed(environment: { Environment[$0] }) ? .connectToSystemAgent() : nil
    }
    guard vault == nil else {
      throw Failure.usage("--system: keeps one vault of each user", hint: "leave out --vault or --system")
    }
    guard SystemAgent.isThere else {
      throw Failure(
        .noVault, "\(SystemAgent.socket): no agent of the system serves user \(geteuid())",
        hint: "as root: systemctl enable --now cofferd@\(geteuid()).socket")
    }
    return .connectToSystemAgent()
  }

  /// The vault that the agent of the system keeps for another user.
  /// - Throws: usage, to all but root.
  func systemVault(of user: UInt32) throws -> SystemVault {
    try prepare()
    guard vault == nil else { throw Failure.usage("--user: names the vault", hint: "leave out --vault or --user") }
    guard geteuid() == 0 else { throw Failure.usage("--user: is for root", hint: "leave it out: --system") }
    return SystemVault(options: self, keychain: .connectToSystemAgent(of: user))
  }

  /// The path of the vault's file; nil if the agent of the system keeps the vault.
  func path() throws -> String? {
    guard try systemAgent() == nil else { return nil }
    return try vault ?? Places { Environment[$0] }.vault
  }

  /// Commands that need the file itself fail if this user cannot read it.
  func checkIsFile() throws {
    guard try systemAgent() == nil else {
      throw Failure.usage("\(Self.systemVault): its file is the agent's alone", hint: "a file of yours: --vault PATH")
    }
  }
}
