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
  private let open: @Sendable (borrowing Credential) throws -> Vault
  private let mutex = Mutex(())
  private var vault: Vault?
  private var wasUnlocked = false

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
  package func unlock(_ credential: borrowing Credential) throws {
    var vault: Vault? = try open(credential)
    mutex.withLock { _ in
      swap(&self.vault, &vault)
      wasUnlocked = true
    }
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
      let now = Timestamp(secondsSince1970: Int64(time(nil)))
      return try ItemService(try caller(vault!), at: now).answer(call, in: &vault!)
    }
  }
}
