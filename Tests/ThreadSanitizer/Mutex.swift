internal import Glibc

/// In the place of `Synchronization.Mutex` under the thread sanitizer: a thread that had to wait for the standard library's takes it in a
/// library that is not instrumented, so what it protects would be reported. The control of `Tests/ThreadSanitizer/run` shows both.
///
/// `run` makes this file a part of each module that uses it: a module's own declarations come before imported ones.
@safe package struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let value: UnsafeMutablePointer<Value>

  package init(_ initial: consuming sending Value) {
    unsafe lock = .allocate(capacity: 1)
    unsafe pthread_mutex_init(lock, nil)
    unsafe value = .allocate(capacity: 1)
    unsafe value.initialize(to: initial)
  }

  deinit {
    unsafe value.deinitialize(count: 1)
    unsafe value.deallocate()
    unsafe pthread_mutex_destroy(lock)
    unsafe lock.deallocate()
  }

  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    nonisolated(unsafe) let value = unsafe value
    return try unsafe body(&value.pointee)
  }

  package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    guard unsafe pthread_mutex_trylock(lock) == 0 else { return nil }
    defer { unsafe pthread_mutex_unlock(lock) }
    nonisolated(unsafe) let value = unsafe value
    return try unsafe body(&value.pointee)
  }
}
