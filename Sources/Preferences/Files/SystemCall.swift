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
    self.init(code, "\(what): \(Self.text(of: number))")
  }

  private static func text(of number: Int32) -> String {
    // strerror's buffer may be overwritten by another thread; strerror_r's is ours.
    let text = unsafe [UInt8](unsafeUninitializedCapacity: 128) { buffer, count in
      unsafe buffer.initialize(repeating: 0)
      let known = unsafe buffer.withMemoryRebound(to: CChar.self) { unsafe strerror_r(number, $0.baseAddress!, 128) == 0 }
      count = known ? unsafe buffer.prefix { $0 != 0 }.count : 0
    }
    return text.isEmpty ? "error \(number)" : String(decoding: text, as: UTF8.self)
  }
}

/// Calls again where a signal came first. The result, or the errno: -1 is never a result.
func retrying<Result: SignedInteger>(_ call: () -> Result) -> (result: Result, errno: Int32) {
  while true {
    let result = call()
    if result != -1 { return (result, 0) }
    let number = errno
    if number != EINTR { return (result, number) }
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
