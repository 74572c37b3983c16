internal import Glibc

/// Keeps fork(2) from happening while the thread of `ChangeWatch` holds a lock: in the child nobody would ever give it back.
///
/// Other threads of a program are its own affair, as with every lock of every library. A program that forks while an observer runs for
/// longer than a second does not wait for it any longer.
enum ForkGate {
  /// Recursive: an observer, which runs on the thread of the watch, may fork too.
  nonisolated(unsafe) private static let mutex: UnsafeMutablePointer<pthread_mutex_t> = .allocate(capacity: 1)
  /// Written between `enter` and `leave` of a fork alone.
  nonisolated(unsafe) private static var isHeld = false

  /// Once, before the thread starts.
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
        // The child's thread has another number than the one that holds it.
        unsafe ForkGate.isHeld = false
        ForkGate.initialize()
      })
  }

  /// Memory that was only allocated is no mutex: what else was there before decides how glibc takes it.
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
