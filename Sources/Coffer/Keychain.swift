internal import Glibc
internal import Storage
internal import Synchronization
public import VaultCore

/// The items of a vault that a program may use: those in the access groups that its team has given it.
///
/// The rules are those of Apple's keychain: a new item goes into the first group; a search without a group looks in all; a group that is
/// not held is refused by name, and never "not found". A locked keychain says so at once. Nobody is ever asked for anything.
///
/// The vault is opened in this process. Any number of processes and threads may use it at once. Thread-safe; a call waits for the calls
/// of other threads, and at most 10 s for other processes.
public final class Keychain: Sendable {
  let identity: KeychainIdentity
  private let box = VaultBox()

  /// A keychain over a vault that was opened already.
  public init(_ vault: consuming Vault, as identity: KeychainIdentity) throws {
    self.identity = identity
    do {
      try check(vault)
    } catch {
      throw KeychainError(error)
    }
    box.put(vault)
  }

  /// Opens the user's vault, or the one at a path.
  /// - Parameters:
  ///   - path: Nil for the user's own: `vault.coffer` under `COFFER_HOME`, or `coffer` in the data directory of XDG's specification.
  ///   - credential: A passphrase takes the time of its key derivation, about half a second; a key file none.
  /// - Throws: `noVault`, `wrongCredential`, `appNotInstalled`, `integrity`, `storage`, `busy`, `memory`, `newerFormat`.
  public static func open(
    at path: String? = nil, with credential: borrowing Credential, as identity: KeychainIdentity
  ) throws -> Keychain {
    try Keychain(try openVault(path, credential), as: identity)
  }

  /// Opens it with what the service manager has handed over: see `ServiceCredentials`.
  /// - Throws: `locked` where that is nothing: nobody is asked; as above.
  public static func open(at path: String? = nil, as identity: KeychainIdentity) throws -> Keychain {
    do {
      guard let credential = try ServiceCredentials.load(environment: Self.variable) else {
        throw KeychainError(.locked, "nothing opens it: $\(ServiceCredentials.directoryVariable) \(Self.whatIsMissing())")
      }
      return try open(at: path, with: credential, as: identity)
    } catch {
      throw KeychainError(error)
    }
  }

  private static func whatIsMissing() -> String {
    guard let directory = variable(ServiceCredentials.directoryVariable) else { return "is not set" }
    guard unsafe access(directory, F_OK) == 0 else { return "is not there: \(directory); a sandbox does not show it" }
    return "has neither a key file nor a passphrase"
  }

  private static func variable(_ name: String) -> String? { unsafe getenv(name).map { unsafe String(cString: $0) } }

  private static func openVault(_ path: String?, _ credential: borrowing Credential) throws -> Vault {
    do {
      let places = try Places(environment: Self.variable)
      let store = try FileStore(at: path ?? places.vault)
      return try Vault.open(
        store, with: credential, anchor: AnchorFile(at: places.anchor(forVaultAt: store.path)),
        deviceKey: try DeviceKeyFile(at: places.deviceKey).load())
    } catch {
      throw KeychainError(error)
    }
  }

  // MARK: Locked and unlocked

  public var isLocked: Bool { box.isEmpty }

  /// Forgets the keys. Every call fails with `locked` until `unlock`.
  public func lock() { box.empty() }

  /// Opens the vault again.
  /// - Throws: as `open`.
  public func unlock(at path: String? = nil, with credential: borrowing Credential) throws {
    let vault = try Self.openVault(path, credential)
    do { try check(vault) } catch { throw KeychainError(error) }
    box.put(vault)
  }

  /// An app that the vault does not know, or that was removed, gets nothing at all.
  private func check(_ vault: borrowing Vault) throws { _ = try Access(identity, vault) }

  // MARK: Who may do what

  /// The groups, in order, with the rights in each. For the owner that takes a walk over the vault.
  public var entitlements: Entitlements {
    get throws {
      try read { vault, access in try access.entitlements ?? Entitlements(all: Self.groups(vault)) }
    }
  }

  /// The group that no other app has, `TEAM.identifier`. Nil for who is no app.
  /// - Throws: `locked`, `appNotInstalled`; `integrity`.
  public var ownGroup: AccessGroup? {
    get throws { try read { _, access in try access.application.map { try AccessGroup($0) } } }
  }

  /// All that there are, `default` first. Takes a walk over the vault.
  static func groups(_ vault: borrowing Vault) throws -> [AccessGroup] {
    [.standard] + (try vault.groups()).filter { $0 != .standard }
  }

  /// Who may do what is asked anew for each call: what was granted may have been taken back.
  func read<Result: ~Copyable & Sendable>(_ body: (borrowing Vault, Access) throws -> Result) throws -> Result {
    try box.withVault { vault in try body(vault, Access(identity, vault)) }
  }

  func write<Result: Sendable>(_ body: (inout Transaction, Access) throws -> Result) throws -> Result {
    try box.withVault { vault in
      let access = try Access(identity, vault)
      return try vault.transaction { try body(&$0, access) }
    }
  }
}

/// The vault, while there is one. All uses of it are within the lock, which is what makes it sendable.
private final class VaultBox: @unchecked Sendable {
  private let mutex = Mutex(())
  private var vault: Vault?

  var isEmpty: Bool { mutex.withLock { _ in vault == nil } }

  func put(_ new: consuming Vault) {
    var new: Vault? = consume new
    mutex.withLock { _ in swap(&vault, &new) }
  }

  func empty() {
    var old: Vault?
    mutex.withLock { _ in swap(&vault, &old) }
  }

  func withVault<Result: ~Copyable & Sendable>(
    _ body: (inout Vault) throws -> Result
  ) throws(KeychainError) -> Result {
    try mutex.withLock { (_) throws(KeychainError) -> Result in
      guard vault != nil else { throw KeychainError(.locked) }
      do {
        return try body(&vault!)
      } catch {
        throw KeychainError(error)
      }
    }
  }
}
