import Glibc

/// The lock of the writers of one domain: flock(2), held by the open file and given back by the kernel when a process dies. It is
/// tried without waiting in the kernel, so that a process that was stopped cannot hold up others beyond a deadline. (A lock of
/// fcntl(2) takes half a microsecond more, a quarter of what it takes to set a value.)
///
/// Threads of one process share the open file, and so need a lock of their own around this one.
struct FileLock {
  let file: OpenFile

  /// - Throws: `busy` at the deadline; `accessDenied`, `io`.
  func take(within milliseconds: UInt64) throws(PreferenceError) {
    // Whoever holds it needs microseconds, and rarely milliseconds.
    var attempt = 0
    var deadline: Deadline?
    while flock(file.number, LOCK_EX | LOCK_NB) != 0 {
      let number = errno
      guard number == EWOULDBLOCK || number == EINTR else { throw PreferenceError(errno: number, file.path) }
      attempt += 1
      let last = deadline ?? Deadline(milliseconds: milliseconds)
      deadline = last
      if attempt < 4 {
        sched_yield()
        continue
      }
      guard !last.hasPassed else { throw PreferenceError(.busy, "another process holds \(file.path)") }
      let longest = UInt32(min(20 * attempt, 500))
      usleep(UInt32.random(in: longest / 2...longest))
    }
  }

  /// Not to be asked while this process holds it.
  var isFree: Bool {
    guard flock(file.number, LOCK_SH | LOCK_NB) == 0 else { return errno != EWOULDBLOCK }
    release()
    return true
  }

  func release() { _ = flock(file.number, LOCK_UN) }
}
