/// A point in time that waiting ends at. The clock stands still while the machine sleeps.
struct Deadline {
  private let end: SuspendingClock.Instant

  init(after duration: Duration) { end = SuspendingClock().now + duration }

  var hasPassed: Bool { SuspendingClock().now >= end }

  /// What is left, at least one, for interfaces that take 0 for "never".
  var milliseconds: Int32 {
    let left = (end - SuspendingClock().now).components
    let milliseconds = left.seconds.multipliedReportingOverflow(by: 1000)
    guard !milliseconds.overflow else { return .max }
    return Int32(clamping: max(1, milliseconds.partialValue + left.attoseconds / 1_000_000_000_000_000))
  }
}
