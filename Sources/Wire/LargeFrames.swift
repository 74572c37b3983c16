internal import CLinux
internal import Glibc
internal import SystemCalls

/// Seats for frames that are large. Their bytes go straight into locked memory, of which a process may have as little as 8 MiB:
/// who only announces a megabyte is not to take it from everybody else. Without a seat the bytes wait where the kernel has them.
package final class LargeFrames: Sendable {
  /// A frame is being received. Ends with this.
  final class Seat {
    private let frames: LargeFrames
    fileprivate init(_ frames: LargeFrames) { self.frames = frames }
    deinit { frames.giveBack(1) }
  }

  /// Holds the number of free seats.
  private let free: OwnedDescriptor

  /// - Returns: nil if the process has no descriptor left.
  package init?(seats: Int = WireLimits.largeFrames) {
    guard let free = OwnedDescriptor(coffer_eventfd_semaphore()) else { return nil }
    self.free = free
    giveBack(UInt64(seats))
  }

  private func giveBack(_ seats: UInt64) {
    var seats = seats
    _ = unsafe write(free.number, &seats, 8)
  }

  /// - Parameter wait: Until one may be free; false where the time is over.
  /// - Returns: Nil where there was none in time.
  func seat(_ wait: (_ descriptor: Int32) throws -> Bool) rethrows -> Seat? {
    var one: UInt64 = 0
    while unsafe read(free.number, &one, 8) != 8 {
      guard errno == EAGAIN || errno == EINTR, try wait(free.number) else { return nil }
    }
    return Seat(self)
  }
}
