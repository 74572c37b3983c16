internal import Glibc

/// Delays fork(2) while the thread of `ChangeWatch` holds a lock, which would stay locked in the child.
///
/// Locks held by other threads of the program are not covered, as with any library. A fork waits at most a second, so that an
/// observer that runs for longer does not block it.
enum ForkGate {
  /// Recursive, because an observer, which runs on the watching thread, may fork too.
  nonisolated(unsafe) private static let mutex: UnsafeMutablePointer<pthread_mutex_t> = .allocate(capacity: 1)
  /// Written only between `enter` and `leave` of a fork.
  nonisolated(unsafe) private static var isHeld = false

  /// Called once, before the thread starts.
  static func install() {
    initialize()
    pthread_atfork(
      {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        time.tv_sec += 1
        let result = unsafe pthread_mutex_timedlock(ForkGate.mutex, &time)
        if result == 0 { unsafe ForkGate.isHeld = true }
      },
      {
        guard unsafe ForkGate.isHeld else { return }
        unsafe ForkGate.isHeld = false
        ForkGate.leave()
      },
      {
        // The child's only thread is not the one that locked the mutex, so the mutex is initialised again.
        unsafe ForkGate.isHeld = false
        ForkGate.initialize()
      })
  }

  /// Initialises the mutex explicitly: in memory that was only allocated, its content would be arbitrary.
  private static func initialize() {
    var attributes = pthread_mutexattr_t()
    unsafe pthread_mutexattr_init(&attributes)
    unsafe pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
    unsafe pthread_mutex_init(mutex, &attributes)
    unsafe pthread_mutexattr_destroy(&attributes)
  }

  static func enter() { unsafe pthread_mutex_lock(mutex) }
  static func leave() { unsafe pthread_mutex_unlock(mutex) }
}
