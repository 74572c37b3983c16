internal import CofferFiles
import Glibc

extension PreferenceError {
  /// The error for a failed system call.
  init(errno number: Int32, _ what: String) {
    let code: Code =
      switch number {
      case ELOOP: .symbolicLink
      case EISDIR, ENXIO, ENOTDIR: .notAFile
      case EACCES, EPERM: .accessDenied
      case EROFS: .readOnly
      case ENOSPC, EDQUOT: .full
      case EMFILE, ENFILE: .descriptorsExhausted
      default: .io
      }
    self.init(code, "\(what): \(ErrorNumber.text(of: number))")
  }
}

/// A point in time that waiting does not go beyond. Of the clock that no one sets.
struct Deadline: Sendable {
  private let nanoseconds: UInt64

  static func now() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  init(milliseconds: UInt64) { nanoseconds = Self.now() + milliseconds * 1_000_000 }

  var hasPassed: Bool { Self.now() >= nanoseconds }
}
