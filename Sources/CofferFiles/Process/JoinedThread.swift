import Glibc

/// A thread whose end its owner waits for, when this object goes: it must be told to end before, and must not own this object.
package final class JoinedThread: Sendable {
  private let thread: pthread_t

  /// - Returns: nil if the system had no thread.
  package init?(_ name: String, _ run: @escaping @Sendable () -> Void) {
    guard let thread = DetachedThread.make(name, state: PTHREAD_CREATE_JOINABLE, run) else { return nil }
    self.thread = thread
  }

  deinit { pthread_join(thread, nil) }
}
