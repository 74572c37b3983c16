import CLinux
import Glibc

/// A lock for what takes long, or what many threads want.
///
/// `Synchronization.Mutex` hands the lock to the thread that has waited longest, which must be woken before any thread goes on:
/// with eight clients at once that was more than half of the time of an answer. This one is taken by a thread that runs.
@safe package final class ThreadLock: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  package init() {
    unsafe mutex = .allocate(capacity: 1)
    let result = unsafe pthread_mutex_init(mutex, nil)
    precondition(result == 0, "no lock can be made")
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// Not to be called within `body`: that waits for ever.
  package func withLock<Result: ~Copyable>(_ body: () throws -> Result) rethrows -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body()
  }

  /// Returns nil, without a wait, if another thread has it.
  package func withLockIfFree<Result>(_ body: () throws -> Result) rethrows -> Result? {
    guard unsafe pthread_mutex_trylock(mutex) == 0 else { return nil }
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body()
  }
}

/// A value that only one thread at a time may use.
package final class Guarded<Value>: @unchecked Sendable {
  private let lock = ThreadLock()
  private var value: Value

  package init(_ value: sending Value) { self.value = value }

  /// Not to be called within `body`.
  package func withLock<Result: ~Copyable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&value) }
  }
}
