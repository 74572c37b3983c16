internal import SystemCalls

/// Seats for frames that are large. Their bytes go straight into locked memory, of which a process may have as little as 8 MiB: a process
/// that announces a megabyte must not take it from all others. Without a seat the bytes wait in the kernel.
///
/// A process has one seat at a time, and the one that has waited longest gets the next that it may have. Thread-safe.
package final class LargeFrames: Sendable {
  /// A frame is being received. Ends with this.
  final class Seat {
    private let frames: LargeFrames
    private let process: Int32

    fileprivate init(_ frames: LargeFrames, _ process: Int32) { (self.frames, self.process) = (frames, process) }
    deinit { frames.giveBack(process) }
  }

  private struct State {
    var free: Int
    var seated: Set<Int32> = []
    var waiting: [(process: Int32, wakeUp: WakeUp)] = []

    func canSit(_ process: Int32) -> Bool { free > 0 && !seated.contains(process) }

    mutating func sit(_ process: Int32) {
      free -= 1
      seated.insert(process)
    }

    mutating func seatNext() {
      guard let index = waiting.firstIndex(where: { canSit($0.process) }) else { return }
      let next = waiting.remove(at: index)
      sit(next.process)
      next.wakeUp.call()
    }
  }

  private let state: Guarded<State>

  package init(seats: Int = WireLimits.largeFrames) { state = Guarded(State(free: seats)) }

  /// - Parameter milliseconds: How long it may take until there is one.
  /// - Returns: nil if there was none in time, or the process has no descriptor left to wait with.
  func seat(of process: Int32, milliseconds: Int32) -> Seat? {
    let isFree = state.withLock { state in
      guard state.canSit(process) else { return false }
      state.sit(process)
      return true
    }
    if isFree { return Seat(self, process) }
    guard let wakeUp = WakeUp() else { return nil }
    state.withLock { state in
      state.waiting.append((process, wakeUp))
      state.seatNext()
    }
    _ = wakeUp.wait(milliseconds: max(0, milliseconds))
    let isSeated = state.withLock { state in
      guard let index = state.waiting.firstIndex(where: { $0.wakeUp === wakeUp }) else { return true }
      state.waiting.remove(at: index)
      return false
    }
    return isSeated ? Seat(self, process) : nil
  }

  private func giveBack(_ process: Int32) {
    state.withLock { state in
      state.free += 1
      state.seated.remove(process)
      state.seatNext()
    }
  }
}
