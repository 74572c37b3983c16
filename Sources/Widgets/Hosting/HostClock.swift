internal import Dispatch
package import Foundation
internal import Synchronization

/// The time, and who wakes a host up.
package protocol HostClock: Sendable {
  var now: Date { get }
  /// A clock wakes one host.
  func onWake(_ body: @escaping @Sendable () -> Void)
  /// Once, when `date` comes; in place of the date before. Nil: never.
  func wake(at date: Date?)
}

/// The clock on the wall: what it is set to, and the time that the machine sleeps, count.
package final class WallClock: HostClock {
  /// Later than this, in seconds, is never.
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
    // Also for what is no number.
    guard let date, date.timeIntervalSince(now) < Self.farthest else { return .distantFuture }
    // Dispatch takes the first second of 1970 for something else.
    let seconds = max(now, date).timeIntervalSince1970
    let whole = seconds.rounded(.down)
    // Not before the date.
    let nanoseconds = min(((seconds - whole) * 1e9).rounded(.up), 999_999_999)
    return DispatchWallTime(timespec: timespec(tv_sec: Int(whole), tv_nsec: Int(nanoseconds)))
  }
}
