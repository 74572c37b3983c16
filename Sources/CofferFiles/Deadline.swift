internal import Glibc

/// A point in time at which waiting ends, on CLOCK_MONOTONIC: that clock cannot be set, and it stands still while the machine sleeps.
package struct Deadline: Sendable {
  private let end: UInt64

  /// Nanoseconds.
  package static func now() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  package init(milliseconds: some BinaryInteger) { self.init(after: .milliseconds(milliseconds)) }

  package init(after duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let (whole, isTooLong) = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (end, isTooLate) = Self.now().addingReportingOverflow(whole &+ UInt64(clamping: attoseconds / 1_000_000_000))
    self.end = isTooLong || isTooLate ? .max : end
  }

  package var hasPassed: Bool { Self.now() >= end }

  /// Milliseconds, rounded up; 0 if the deadline has passed.
  package var left: Int32 {
    let now = Self.now()
    return now >= end ? 0 : Int32(clamping: (end - now - 1) / 1_000_000 + 1)
  }
}
