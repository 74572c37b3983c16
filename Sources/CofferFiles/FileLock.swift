internal import CLinux
internal import Glibc

/// A lock on an open file, which the kernel releases when the process ends. It is tried without waiting in the kernel, so that a process
/// that was stopped cannot delay others beyond a deadline.
///
/// The lock belongs to the open file description: file descriptors that were inherited or duplicated share it, and two that were opened
/// separately exclude each other, in one process too.
package struct FileLock: Sendable {
  package enum Kind: Sendable { case shared, exclusive }

  package enum Outcome: Sendable {
    case taken
    /// Another open file description has it.
    case busy
    /// The errno.
    case failed(Int32)
  }

  private let descriptor: Int32
  /// nil: the whole file, by flock(2). (A lock of fcntl(2) takes half a microsecond more.)
  private let byte: Int?

  /// - Parameter byte: The byte to lock, by fcntl(F_OFD_SETLK). nil for the whole file, by flock(2). The two do not exclude each other.
  package init(on descriptor: Int32, byte: Int? = nil) {
    self.descriptor = descriptor
    self.byte = byte
  }

  package func attempt(_ kind: Kind = .exclusive) -> Outcome {
    let done = retrying {
      guard let byte else { return flock(descriptor, (kind == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) }
      return coffer_ofd_lock(descriptor, Int16(kind == .shared ? F_RDLCK : F_WRLCK), byte)
    }
    switch done.errno {
    case 0: return .taken
    case EWOULDBLOCK, EACCES: return .busy
    default: return .failed(done.errno)
    }
  }

  /// - Parameter deadline: Computed if the first attempt fails.
  package func take(_ kind: Kind = .exclusive, until deadline: @autoclosure () -> Deadline, pause: LockPause) -> Outcome {
    let first = attempt(kind)
    guard case .busy = first else { return first }
    let deadline = deadline()
    var pause = pause
    while pause.isYielding || !deadline.hasPassed {
      pause.wait()
      let next = attempt(kind)
      guard case .busy = next else { return next }
    }
    return .busy
  }

  /// - Throws: `busy` at the deadline; the error of the system, about `path`.
  package func take<Failure: FileFailure>(
    _ kind: Kind = .exclusive, until deadline: @autoclosure () -> Deadline, pause: LockPause, _ path: String,
    orThrow busy: @autoclosure () -> Failure
  ) throws(Failure) {
    switch take(kind, until: deadline(), pause: pause) {
    case .taken: return
    case .busy: throw busy()
    case .failed(let number): throw Failure(FileError(errno: number, path))
    }
  }

  /// Whether another open file description has locked one of the bytes; nil if the system does not say. Takes no lock.
  package static func isHeld(_ bytes: some RangeExpression<Int>, on descriptor: Int32) -> Bool? {
    let range = bytes.relative(to: 0..<Int.max)
    let count = range.upperBound == .max ? 0 : range.count
    let held = retrying { coffer_ofd_is_locked(descriptor, range.lowerBound, count) }
    return held.errno == 0 ? held.result == 1 : nil
  }

  package func release() {
    if let byte { _ = coffer_ofd_lock(descriptor, Int16(F_UNLCK), byte) } else { _ = flock(descriptor, LOCK_UN) }
  }
}

/// The pauses between the attempts to take a lock: each a quarter longer than the one before, and shortened by up to half at random, so
/// that processes that came together do not try together.
package struct LockPause: Sendable {
  /// The first attempts only let other threads run.
  private var yields: Int
  private var next: UInt32
  private let longest: UInt32

  /// - Parameters: Microseconds.
  package init(_ shortest: UInt32, upTo longest: UInt32, yields: Int = 0) {
    (next, self.longest, self.yields) = (shortest, longest, yields)
  }

  var isYielding: Bool { yields > 0 }

  package mutating func wait() {
    guard yields == 0 else {
      yields -= 1
      sched_yield()
      return
    }
    usleep(UInt32.random(in: next / 2...next))
    next = min(next + next / 4, longest)
  }
}
