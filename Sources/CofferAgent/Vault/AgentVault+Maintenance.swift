import CofferFiles
import CofferRequests
import CofferStorage
import VaultCore

/// The time in which a restore changes the vault's file as a whole.
extension AgentVault {
  /// Refuses clients while `body` runs: they get an error at once, and wait for nothing.
  /// - Parameter closes: Whether the vault is closed, and so locked, before and afterwards: its keys do not prove the state that follows. If
  ///   not, it stays unlocked, and goes on with the next generation.
  /// - Throws: `storage` with the cause `maintenance` if another thread does this; the errors of `body`.
  func withoutClients<Result>(closing closes: Bool, _ body: () throws -> Result) throws -> Result {
    var isToReopen = false
    try threadLock.withLock {
      try checkServes()
      isInMaintenance = true
      // A vault that a request or the time has locked stays locked.
      isToReopen = closes && (vault == nil || !isLocked)
      guard closes else {
        vault?.rest()
        return
      }
      forget()
      vault = nil
      publish()
    }
    defer {
      threadLock.withLock {
        isInMaintenance = false
        if isToReopen { reopening.isDue = true }
        // At once: until then, the sessions that were proven before new keys would be the owner's.
        lookForNewKeys()
      }
      reopen()
    }
    return try body()
  }

  /// To be called with the lock.
  /// - Throws: `storage` with the cause `maintenance`.
  func checkServes() throws {
    if isInMaintenance { throw KeychainError(StorageError(.maintenance, path)) }
  }
}
