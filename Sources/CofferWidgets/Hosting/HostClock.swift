internal import Dispatch
package import Foundation
internal import Synchronization

/// The time, and the timer of a host.
package protocol HostClock: Sendable {
  var now: Date { get }
  /// Sets the function to call. A clock serves one host.
  func onWake(_ body: @escaping @Sendable () -> Void)
  /// Calls the function once, at `date`, which replaces an earlier date. nil for never.
  func wake(at date: Date?)
}

/// The wall clock: setting the clock and time in suspend count.
package final class WallClock: HostClock {
  /// Dates further away than this, in seconds, are never reached.
  private static let farthest: TimeInterval = 1e9

  private let timer: Mutex<any DispatchSourceTimer>

  package init() {
    let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "coffer.widgets.clock"))
    source.schedule(wallDeadline: .distantFuture)
    source.activate()
    timer = Mutex(source)
  }

  deinit { timer.withLock { $0.cancel() } }

  package var now: Date { Date() }

  package func onWake(_ body: @escaping @Sendable () -> Void) {
    timer.withLock { $0.setEventHandler(handler: body) }
  }

  package func wake(at date: Date?) {
    timer.withLock { $0.schedule(wallDeadline: deadline(date)) }
  }

  private func deadline(_ date: Date?) -> DispatchWallTime {
    // Covers NaN too.
    guard let date, date.timeIntervalSince(now) < Self.farthest else { return .distantFuture }
    // DispatchWallTime has a special meaning for the first second of 1970.
    let seconds = max(now, date).timeIntervalSince1970
    let whole = seconds.rounded(.down)
    // Rounded up, so that the timer does not fire before the date.
    let nanoseconds = min(((seconds - whole) * 1e9).rounded(.up), 999_999_999)
    return DispatchWallTime(timespec: timespec(tv_sec: Int(whole), tv_nsec: Int(nanoseconds)))
  }
}
