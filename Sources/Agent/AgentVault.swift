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
  /// How often it has been locked: what the owner has agreed to for a while ends with that.
  private var lockCount: UInt64 = 0
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
  package func unlock(_ credential: borrowing Credential) throws {
    var vault: Vault? = try open(credential)
    mutex.withLock { _ in
      swap(&self.vault, &vault)
      wasUnlocked = true
      lastUse = Self.clock()
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
      if left <= 0 {
        swap(&vault, &old)
        lockCount += 1
      }
      return left > 0 ? left : nil
    }
  }

  /// Milliseconds of a clock that only goes on, also while the machine sleeps.
  package static func clock() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Forgets the keys.
  func lock() {
    var old: Vault?
    mutex.withLock { _ in
      swap(&vault, &old)
      lockCount += 1
    }
  }

  /// Questions to the owner for one call: two where an item moves from one group to another, and again what has changed meanwhile.
  private static let maximumQuestions = 4

  /// - Parameters:
  ///   - caller: In whose name, asked anew for each call: what was granted may have been taken back.
  ///   - confirm: Asks the owner, while others use the vault. Afterwards everything is looked at again: what has changed is asked about
  ///     again. Told how often the vault has been locked.
  /// - Throws: `KeychainError`: `locked`, `conflict`; what `caller`, `confirm` and `ItemService` throw.
  func answer(
    _ call: consuming Call, as caller: (borrowing Vault) throws -> Caller, confirm: (Confirmation, UInt64) throws -> Void
  ) throws -> Answer {
    var call: Call? = consume call
    var confirmed: [Confirmation] = []
    var seenLockCount: UInt64 = 0
    for _ in 0...Self.maximumQuestions {
      var needed: Confirmation?
      let answer: Answer? = try mutex.withLock { _ in
        guard vault != nil else { throw KeychainError(.locked) }
        if lockCount != seenLockCount { (confirmed, seenLockCount) = ([], lockCount) }
        lastUse = Self.clock()
        let service = try ItemService(caller(vault!), at: Timestamp(secondsSince1970: Int64(time(nil))), confirmed: confirmed)
        needed = try service.confirmations(for: call!, in: vault!).first { !confirmed.contains($0) }
        guard needed == nil, let call = call.take() else { return nil }
        return try service.answer(call, in: &vault!)
      }
      if let answer { return answer }
      guard let needed else { break }
      try confirm(needed, seenLockCount)
      confirmed.append(needed)
    }
    throw KeychainError(.conflict, "what the owner was asked about has been changed in between")
  }
}
