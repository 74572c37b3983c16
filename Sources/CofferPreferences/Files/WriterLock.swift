internal import CofferFiles

/// The lock of the writers of one domain. Threads of one process share the open file, and so need a lock of their own around
/// this one.
struct WriterLock {
  let file: OpenFile
  private var lock: FileLock { FileLock(on: file.number) }

  /// - Throws: `busy` at the deadline; `accessDenied`, `io`.
  func take(within milliseconds: UInt64) throws(PreferenceError) {
    // The holder needs microseconds, rarely milliseconds.
    try lock.take(
      until: Deadline(milliseconds: milliseconds), pause: LockPause(80, upTo: 500, yields: 3), file.path,
      orThrow: PreferenceError(.busy, "another process holds \(file.path)"))
  }

  /// Not to be asked while this process holds it.
  var isFree: Bool {
    switch lock.attempt(.shared) {
    case .taken:
      lock.release()
      return true
    case .busy: return false
    case .failed: return true
    }
  }

  func release() { lock.release() }
}
