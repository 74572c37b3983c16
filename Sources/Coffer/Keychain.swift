import AccessRights
package import CofferFiles
internal import CofferLifecycle
package import CofferRequests
internal import CofferStorage
internal import Glibc
internal import Pinentry
internal import Synchronization
public import VaultCore

/// The items of a vault that a program may use: those in the access groups that its team has given it.
///
/// The rules are those of Apple's keychain: a new item goes into the first group; a search without a group looks in all; a group
/// that is not held is refused by name, and never "not found". If the keys of an item are wiped, the call throws `locked` at
/// once. No call prompts.
///
/// The vault is opened in this process. Any number of processes and threads may use it at once. Thread-safe; a call waits for
/// the calls of other threads, and at most 10 s for other processes.
public final class Keychain: Sendable {
  let transport: any KeychainTransport
  private let metDamage = Mutex<KeychainError?>(nil)

  init(_ transport: any KeychainTransport) { self.transport = transport }

  /// A keychain over a vault that was opened already.
  /// - Throws: `appNotInstalled`, `integrity`.
  public convenience init(_ vault: consuming Vault, as identity: KeychainIdentity) throws {
    self.init(try InProcessTransport(vault, as: identity))
  }

  /// A keychain for callers that are no `KeychainIdentity`, with a way to ask the owner.
  package convenience init(
    _ vault: consuming Vault, log: DirectAccessLog?, confirm: @escaping ConfirmationQuestion,
    caller: @escaping @Sendable (borrowing Vault) throws -> Caller
  ) throws {
    self.init(try InProcessTransport(vault, log: log, confirm: confirm, caller: caller))
  }

  /// Ends the use of a vault that is open in this process. A keychain that just goes does so as well, but cannot tell of a
  /// failure.
  /// - Throws: what the store of the anchor throws.
  package func close() throws {
    if let transport = transport as? InProcessTransport { try transport.close() }
  }

  /// Opens the user's vault, or the one at a path. Each use of its items is written into the user's audit log, if that is
  /// possible.
  /// - Parameters:
  ///   - path: nil for the user's own: `vault.coffer` under `COFFER_HOME`, or `coffer` in the data directory of XDG's
  ///     specification.
  ///   - credential: A passphrase takes the time of its key derivation, about half a second; a key file none.
  ///   - identity: The identity of the caller, which decides its groups.
  /// - Throws: `noVault`, `wrongCredential`, `appNotInstalled`, `integrity`, `storage`, `busy`, `memory`, `newerFormat`.
  public static func open(
    at path: String? = nil, with credential: borrowing Credential, as identity: KeychainIdentity
  ) throws -> Keychain {
    let vault = try openVault(path, credential)
    let log = try? DirectAccessLog(
      in: Places(environment: { Environment[$0] }).state, application: identity.applicationIdentifier)
    return Keychain(try InProcessTransport(vault, as: identity, log: log))
  }

  /// Opens it with what the service manager has handed over: see `ServiceCredentials`.
  /// - Throws: `locked` if that is nothing, without a question; as above.
  public static func open(at path: String? = nil, as identity: KeychainIdentity) throws -> Keychain {
    do {
      guard let credential = try ServiceCredentials.load(environment: { Environment[$0] }) else {
        throw KeychainError(.locked, "nothing opens it: $\(ServiceCredentials.directoryVariable) \(Self.whatIsMissing())")
      }
      return try open(at: path, with: credential, as: identity)
    } catch {
      throw KeychainError(error)
    }
  }

  private static func whatIsMissing() -> String {
    guard let directory = Environment[ServiceCredentials.directoryVariable] else { return "is not set" }
    guard unsafe access(directory, F_OK) == 0 else { return "is not there: \(directory); a sandbox does not show it" }
    return "has neither a key file nor a passphrase"
  }

  private static func openVault(_ path: String?, _ credential: borrowing Credential) throws -> Vault {
    do {
      let places = try Places(environment: { Environment[$0] })
      let store = try FileStore(at: path ?? places.vault)
      let vault = try Vault.open(store, with: credential, anchor: places.anchors(forVaultAt: store.path))
      try places.deviceKeys(of: vault.keys.vault).open(vault)
      return vault
    } catch {
      throw KeychainError(error)
    }
  }

  /// The keychain of the agent that `coffer vault unlock` has started. The agent identifies the program on every request. This
  /// call sends none.
  /// - Parameter path: The agent's socket. nil for the user's own; if the user has no vault, that of the system, if it exists.
  /// - Throws: `storage` if no home directory is known.
  public static func connect(toAgentAt path: String? = nil) throws -> Keychain {
    try connect(toAgentAt: path, visibility: nil)
  }

  /// - Parameter visibility: Shows this process while the agent identifies it; nil if it is not hidden.
  package static func connect(toAgentAt path: String? = nil, visibility: Visibility?) throws -> Keychain {
    do {
      // The agent of the system identifies processes that hide, too.
      if path == nil, try SystemAgent.isUsed(environment: { Environment[$0] }) { return connectToSystemAgent() }
      let socket = try path ?? Places(environment: { Environment[$0] }).answeringAgentSocket()
      return Keychain(AgentTransport(at: socket, visibility: visibility))
    } catch {
      throw KeychainError(error)
    }
  }

  /// The socket of the agent to which `connect` leads.
  /// - Throws: `storage` if no home directory is known.
  package static func agentPath() throws -> String {
    do {
      let isOfSystem = try SystemAgent.isUsed(environment: { Environment[$0] })
      return isOfSystem ? Places.systemSocket(of: geteuid()) : try Places(environment: { Environment[$0] }).answeringAgentSocket()
    } catch {
      throw KeychainError(error)
    }
  }

  /// The same connection to the agent, in the name of another program. The agent takes that from `coffer-secrets` alone.
  package func asking(for client: BusClient) -> Keychain {
    (transport as? AgentTransport).map { Keychain(AgentTransport(sharing: $0, for: client)) } ?? self
  }

  /// The state of the agent. nil if the vault is open in this process.
  /// - Throws: `agent` if none runs.
  package func agentState() throws -> AgentState? { try (transport as? AgentTransport).map { AgentState(try $0.status) } }

  /// The same; nil if none can be asked.
  /// - Throws: `agentNotAnswering`: it may have the vault open.
  package func agentStateIfThere() throws -> AgentState? {
    do {
      return try agentState()
    } catch {
      guard KeychainError.Code.agentNotAnswering ~= error else { return nil }
      throw error
    }
  }

  /// Ends the agent; nothing where the vault is open in this process.
  /// - Throws: `agent` if none runs.
  package func endAgent() throws { if let agent = transport as? AgentTransport { _ = try agent.answer(.session(.end)) } }

  /// The damage of a removed item whose name a write has used again. Its versions were not taken over, and wait for a repair.
  package var damagedHead: KeychainError? { metDamage.withLock { $0 } }

  /// - Throws: `agent`, if it is another answer.
  func reference(_ answer: consuming Answer) throws -> Reference {
    guard case .reference(let reference, let damage) = consume answer else { throw KeychainError.otherAnswer }
    if let damage { metDamage.withLock { $0 = KeychainError(damage) } }
    return reference
  }

  // MARK: Locked and unlocked

  /// Whether the keychain is locked.
  /// - Throws: `agent`, `agentNotAnswering`.
  public var isLocked: Bool { get throws { try transport.isLocked } }

  /// Forgets the keys. Until `unlock`, only items of the classes "after first unlock" can be used; what concerns others fails
  /// with `locked`, at once, and a search leaves them out.
  /// - Throws: `agent`, `agentNotAnswering`; the errors of the anchor's store.
  public func lock() throws { try transport.lock() }

  /// Opens the vault again: in the process the one at a path, through the agent the agent's.
  /// - Throws: as `open`.
  public func unlock(at path: String? = nil, with credential: borrowing Credential) throws {
    switch transport {
    case let transport as InProcessTransport: try transport.put(Self.openVault(path, credential))
    default: try unlock(with: credential, ceiling: .ofThisMachine)
    }
  }
}
