import CLinux
import Glibc

/// Ends the waiting of a thread that waits in poll(2), from any other thread.
package final class EventNotifier: Sendable {
  private let owned: OwnedDescriptor
  /// Readable after `call`, until `clear`.
  package var descriptor: Int32 { owned.number }

  /// nil if the process has no descriptor left.
  package init?() {
    guard let owned = OwnedDescriptor(coffer_eventfd()) else { return nil }
    self.owned = owned
  }

  package func call() {
    var one: UInt64 = 1
    _ = unsafe write(descriptor, &one, 8)
  }

  package func clear() {
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, 8)
  }

  /// Waits for a call, or until another descriptor is readable or at its end.
  /// - Parameter milliseconds: -1: for ever.
  /// - Returns: Which of both occurred; neither, if the time is over.
  package func wait(for other: Int32 = -1, milliseconds: Int32 = -1) -> (isCalled: Bool, isOther: Bool) {
    var entries = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: other, events: Int16(POLLIN), revents: 0),
    ]
    while unsafe poll(&entries, 2, milliseconds) < 0, errno == EINTR {}
    return (entries[0].revents != 0, entries[1].revents != 0)
  }
}
