import CLinux
import Glibc
import ItemService
package import Storage
import Synchronization
package import VaultCore
import Wire

/// The one vault that the agent has open, or has locked. Every use of it is within one lock.
package final class AgentVault: @unchecked Sendable {
  package let path: String
  /// Proves a credential, and opens the vault for this one use.
  let open: @Sendable (borrowing Credential) throws -> Vault
  private let mutex = Mutex(())
  private var vault: Vault?
  private var wasUnlocked = false
  /// Milliseconds of a clock that only goes on.
  private var lastUse: Int64 = 0

  /// - Parameter open: Proves a credential, and opens the vault. In whatever thread.
  package init(at path: String, open: @escaping @Sendable (borrowing Credential) throws -> Vault) {
    self.path = path
    self.open = open
  }

  /// - Parameter path: Nil for the user's own.
  /// - Throws: `StorageError` of the file.
  package convenience init(_ places: Places, at path: String? = nil) throws {
    let path = try FileStore(at: path ?? places.vault).path
    self.init(at: path) { credential in
      try Vault.open(
        FileStore(at: path), with: credential, anchor: AnchorFile(at: places.anchor(forVaultAt: path)),
        deviceKey: try DeviceKeyFile(at: places.deviceKey).load())
    }
  }

  var status: AgentStatus {
    mutex.withLock { _ in AgentStatus(isLocked: vault == nil, wasUnlocked: wasUnlocked, vault: path) }
  }

  var isLocked: Bool { mutex.withLock { _ in vault == nil } }

  /// Proves the credential, also where the vault is open: who has it is the owner. The key derivation is outside of the lock, so that
  /// others go on meanwhile.
  /// - Throws: `VaultError`, `StorageError`.
  /// - Returns: Whether it was the owner's.
  @discardableResult
  package func unlock(_ credential: borrowing Credential) throws -> Bool {
    try put(open(credential))
  }

  /// From now on it is this one.
  /// - Returns: Whether the owner has opened it.
  func put(_ vault: consuming Vault) throws -> Bool {
    let isOwner = try vault.isOpenedByOwner()
    var vault: Vault? = consume vault
    mutex.withLock { _ in
      swap(&self.vault, &vault)
      wasUnlocked = true
      lastUse = Self.clock()
    }
    return isOwner
  }

  /// - Throws: `KeychainError`: `locked`; what `body` throws.
  func use<Result: ~Copyable>(_ body: (inout Vault) throws -> Result) throws -> Result {
    try mutex.withLock { _ in
      guard vault != nil else { throw KeychainError(.locked) }
      lastUse = Self.clock()
      return try body(&vault!)
    }
  }

  /// Forgets the keys where nobody has used them for that long.
  /// - Parameter milliseconds: Nil: never.
  /// - Returns: When to ask again, in milliseconds from now. Nil where it is locked.
  package func lock(unusedFor milliseconds: Int64?) -> Int64? {
    var old: Vault?
    return mutex.withLock { _ in
      guard vault != nil else { return nil }
      guard let milliseconds else { return .max }
      let left = lastUse + milliseconds - Self.clock()
      if left <= 0 { swap(&vault, &old) }
      return left > 0 ? left : nil
    }
  }

  private static func clock() -> Int64 {
    var time = timespec()
    // Goes on while the machine sleeps.
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Forgets the keys.
  func lock() {
    var old: Vault?
    mutex.withLock { _ in swap(&vault, &old) }
  }

  /// - Parameter caller: In whose name, asked anew for each call: what was granted may have been taken back.
  /// - Throws: `KeychainError`: `locked`; what `caller` and `ItemService` throw.
  func answer(_ call: consuming Call, as caller: (borrowing Vault) throws -> Caller) throws -> Answer {
    var call: Call? = consume call
    return try mutex.withLock { _ in
      guard vault != nil, let call = call.take() else { throw KeychainError(.locked) }
      lastUse = Self.clock()
      let now = Timestamp(secondsSince1970: Int64(time(nil)))
      return try ItemService(try caller(vault!), at: now).answer(call, in: &vault!)
    }
  }
}
