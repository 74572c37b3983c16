import Coffer
import CofferConsole
import CofferFiles
import CofferWire
import Glibc
import SecretMemory
import VaultCore

/// The vault that an agent keeps where this user's programs cannot read it. It is there to be asked, and not to be opened.
extension VaultOptions {
  /// Its name in messages.
  static let systemVault = "the system's vault"

  /// Returns nil if the vault is a file of the user.
  func systemAgent() throws -> Keychain? {
    try prepare()
    return try Self.systemAgent(isNamed: system, vault: vault)
  }

  /// - Parameters:
  ///   - isNamed: Whether it must be that one.
  ///   - vault: The file that is named.
  static func systemAgent(isNamed: Bool, vault: String?) throws -> Keychain? {
    guard isNamed else {
      return try vault == nil && SystemAgent.isUsed(environment: { Environment[$0] }) ? .connectToSystemAgent() : nil
    }
    guard vault == nil else {
      throw Failure.usage("--system: keeps one vault of each user", hint: "leave out --vault or --system")
    }
    // It keeps out the programs of its user, and nothing keeps out those of root.
    guard geteuid() != 0 else {
      throw Failure(
        .noVault, "--system: no agent of the system serves the superuser", hint: "a vault of root's own: --vault PATH")
    }
    guard SystemAgent.isThere else {
      throw Failure(
        .noVault, "\(SystemAgent.socket): no agent of the system serves user \(geteuid())",
        hint: "as root: systemctl enable --now cofferd@\(geteuid()).socket")
    }
    return .connectToSystemAgent()
  }

  /// Nil also if its vault is locked and nothing is named that opens it, which is said.
  func askableSystemAgent() throws -> Keychain? {
    guard let keychain = try systemAgent() else { return nil }
    if namesCredential { try unlock(keychain) }
    guard try keychain.agentState() == .unlocked else {
      Descriptor.error.note("note: \(Self.systemVault) is locked: what its agent has logged is not shown\n")
      return nil
    }
    return keychain
  }

  /// Commands that need the file itself fail if this user cannot read it.
  func checkIsFile() throws {
    guard try systemAgent() == nil else {
      throw Failure.usage("\(Self.systemVault): its file is the agent's alone", hint: "a file of yours: --vault PATH")
    }
  }

  /// Proves who asks, so that the agent serves the owner on this connection, and every program what is its own from now on.
  func unlock(_ keychain: Keychain) throws {
    try withCredential(for: keychain) { try keychain.unlock(with: $0, ceiling: ceiling) }
  }

  /// Runs `body` with what opens the vault, again where a person has mistyped.
  func withCredential<Result: ~Copyable>(
    for keychain: Keychain, _ body: (borrowing Credential) throws -> Result
  ) throws -> Result {
    try about(Self.systemVault) {
      let kinds = Set(try keychain.vaultStatus().slots.map(\.type))
      return try withCredential(kinds, Self.systemVault, keyFile.map { try .openKeyFile($0) }, body)
    }
  }
}
