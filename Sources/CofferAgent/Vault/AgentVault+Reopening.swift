import CofferFiles
import CofferRequests

/// An agent whose service has a credential opens its vault again after new keys, or after its file was replaced: no person is there who
/// would.
extension AgentVault {
  /// Within the lock.
  struct Reopening {
    /// Opens the vault with the credential of the service. nil: a person does.
    var open: (@Sendable () -> Void)?
    /// Whether it was locked by something else than a request or the time.
    var isDue = false
  }

  /// - Parameter open: Calls `unlock`, and reports why that fails. Called once after each such lock, without the lock of this.
  package func reopen(by open: @escaping @Sendable () -> Void) { threadLock.withLock { reopening.open = open } }

  /// To be called without the lock.
  func reopen() {
    guard status.isLocked else { return }
    let open: (@Sendable () -> Void)? = threadLock.withLock {
      guard reopening.isDue, isLocked, !isInMaintenance else { return nil }
      reopening.isDue = false
      return reopening.open
    }
    open?()
  }
}
