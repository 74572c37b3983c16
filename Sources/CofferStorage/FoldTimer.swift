internal import CofferFiles
internal import Glibc
internal import Synchronization

/// Calls a closure a second after it was armed, and again each second until the closure returns true: see `FileStore.fold`.
///
/// So a copy of the file of an open vault lacks at most the last second, if no reader keeps the log. The thread exists only while something
/// remains to be done. Thread-safe.
package final class FoldTimer: Sendable {
  private static let seconds: UInt32 = 1
  private let isArmed = Atomic<Bool>(false)

  package init() {}

  /// - Parameter fold: Is called on a thread of its own. Returns whether there is nothing left to do.
  package func arm(_ fold: @escaping @Sendable () -> Bool) {
    guard !isArmed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let isStarted = DetachedThread.start("coffer-fold") { [self] in
      while true {
        // No signal is delivered to this thread.
        sleep(Self.seconds)
        // Before the call: what is committed during it arms the timer again.
        isArmed.store(false, ordering: .releasing)
        if fold() { return }
        guard !isArmed.exchange(true, ordering: .acquiringAndReleasing) else { return }
      }
    }
    // The next commit tries again.
    if !isStarted { isArmed.store(false, ordering: .releasing) }
  }
}
