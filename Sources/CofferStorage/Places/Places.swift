internal import AppContainers
internal import CofferFiles
public import VaultCore

/// Where a user's data lies: under `COFFER_HOME` if that is set, else as the XDG base directory specification says.
///
/// Nothing is made by asking. Immutable.
public struct Places: Sendable, Equatable {
  /// The vault file.
  public let vault: String
  /// The directory for what belongs to this machine: anchors, the device key.
  public let state: String
  /// The directory for sockets. nil if the system has set none: there is no safe alternative.
  public let runtime: String?

  /// - Parameter environment: The value of a variable. An empty one counts as not set, and none counts in a program with more
  ///   rights than its caller.
  /// - Throws: `relativePath` if `COFFER_HOME` is not absolute; `noHome` if no home directory is known.
  public init(environment: (String) -> String?) throws(StorageError) {
    do throws(UserDirectories.Failure) {
      let directories = try UserDirectories(environment: environment)
      vault = Path.join(try directories.dataDirectory(), "vault.coffer")
      state = try directories.stateDirectory()
      runtime = directories.runtime
    } catch {
      switch error {
      case .relativePath(let path): throw StorageError(.relativePath, "COFFER_HOME=\(path)")
      case .noHome(let home): throw StorageError(.noHome, home ?? "")
      }
    }
  }

  /// Everything in one directory: that of an agent with a user of its own.
  package init(in directory: String) {
    vault = Path.join(directory, "vault.coffer")
    state = Path.join(directory, "state")
    runtime = nil
  }

  /// Where an agent with a user of its own keeps what is another user's.
  package static func systemDirectory(of user: UInt32) -> String { "/var/lib/coffer/\(user)" }

  /// On which such an agent answers. Root alone can make it, and what leads to it.
  package static func systemSocket(of user: UInt32) -> String { "/run/coffer/\(user)/agent.sock" }

  /// The anchors of this machine's vaults.
  /// - Parameter path: The path of a vault, as `FileStore.path` returns it.
  public func anchors(forVaultAt path: String) -> AnchorFiles {
    AnchorFiles(in: "\(state)/anchors", forVaultAt: path)
  }

  /// On which the agent of the user's own vault listens: in the directory for sockets or, where the system has none, in that of
  /// this machine's state.
  public var agentSocket: String { socket("agent.sock") }

  /// On which coffer-ssh-agent listens.
  package var sshAgentSocket: String { socket("ssh.sock") }

  /// The directory of the public keys of the keys for ssh in the user's vault.
  package var sshPublicKeys: String { Path.join(state, "ssh") }

  /// On which the agent of a vault listens.
  /// - Parameter path: As for the anchors.
  public func agentSocket(forVaultAt path: String) -> String {
    if path == Self.resolved(vault) { return agentSocket }
    return socket("agent-\(TemporaryName.hexadecimal(Self.fnv1a(path))).sock")
  }

  /// The socket of a running agent of a vault: the one that it has published; else the default one.
  /// - Parameter path: The path of the vault in any form. nil: the user's own.
  package func answeringAgentSocket(forVaultAt path: String? = nil) -> String {
    let vault = Self.resolved(path ?? vault)
    return AgentLock.socket(ofHolder: agentLock(forVaultAt: vault))
      ?? (path == nil ? agentSocket : agentSocket(forVaultAt: vault))
  }

  /// The path of a vault in the form that `FileStore.path` has.
  package func resolvedPath(ofVaultAt path: String) -> String { Self.resolved(path) }

  private static func resolved(_ path: String) -> String { (try? Location(path).path) ?? path }

  private func socket(_ name: String) -> String { "\(runtime ?? "\(state)/run")/\(name)" }

  /// Whose lock says that an agent has the vault.
  /// - Parameter path: As for the anchors.
  public func agentLock(forVaultAt path: String) -> String {
    "\(state)/agent-\(TemporaryName.hexadecimal(Self.fnv1a(path))).lock"
  }

  /// The directory for backups of a vault that were given no name: beside it, so that no other vault's lie there.
  /// - Parameter path: As for the anchors.
  package func backups(forVaultAt path: String) -> String {
    path == Self.resolved(vault) ? Path.join(Path.parent(of: path), "backups") : "\(path).backups"
  }

  /// The key of this device for vaults that have none of their own: those of before each had one. See `DeviceKeyFile`.
  public var deviceKey: String { "\(state)/device.key" }

  /// The key of this device for one vault.
  public func deviceKey(of vault: Identifier) -> String { "\(state)/device-\(vault).key" }

  /// The files that may have the key of this device for a vault.
  package func deviceKeys(of vault: Identifier) -> DeviceKeyFiles {
    DeviceKeyFiles(own: DeviceKeyFile(at: deviceKey(of: vault)), shared: DeviceKeyFile(at: deviceKey))
  }

  /// A file name, nothing more: two paths that meet here would have one agent.
  static func fnv1a(_ text: String) -> UInt64 {
    text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
