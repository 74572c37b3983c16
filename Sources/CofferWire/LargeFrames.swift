internal import CofferFiles

/// Limits how many large frames are received at a time. Their bytes go straight into locked memory, of which a process may have as little
/// as 8 MiB: a process that announces a megabyte must not take it from all others. Without a permit the bytes wait in the kernel.
///
/// A process holds at most one permit. Permits are given in the order in which processes asked. Thread-safe.
package final class LargeFrames: Sendable {
  private struct State {
    var free: Int
    var receiving: Set<Int32> = []
    var waiting: [(process: Int32, wakeUp: EventNotifier)] = []

    func mayReceive(_ process: Int32) -> Bool { free > 0 && !receiving.contains(process) }

    mutating func begin(_ process: Int32) {
      free -= 1
      receiving.insert(process)
    }

    mutating func permitNext() {
      guard let index = waiting.firstIndex(where: { mayReceive($0.process) }) else { return }
      let next = waiting.remove(at: index)
      begin(next.process)
      next.wakeUp.call()
    }
  }

  private let state: Guarded<State>

  package init(permits: Int = WireLimits.largeFrames) { state = Guarded(State(free: permits)) }

  /// - Parameter milliseconds: The longest wait.
  /// - Returns: nil if no permit became free in time, or no descriptor is left to wait with.
  func permit(of process: Int32, milliseconds: Int32) -> FramePermit? {
    let isFree = state.withLock { state in
      guard state.mayReceive(process) else { return false }
      state.begin(process)
      return true
    }
    if isFree { return FramePermit(self, process) }
    guard let wakeUp = EventNotifier() else { return nil }
    state.withLock { state in
      state.waiting.append((process, wakeUp))
      state.permitNext()
    }
    _ = wakeUp.wait(milliseconds: max(0, milliseconds))
    let isPermitted = state.withLock { state in
      guard let index = state.waiting.firstIndex(where: { $0.wakeUp === wakeUp }) else { return true }
      state.waiting.remove(at: index)
      return false
    }
    return isPermitted ? FramePermit(self, process) : nil
  }

  fileprivate func giveBack(_ process: Int32) {
    state.withLock { state in
      state.free += 1
      state.receiving.remove(process)
      state.permitNext()
    }
  }
}

/// Allows one process to receive one large frame, until it is deinitialised.
final class FramePermit {
  private let frames: LargeFrames
  private let process: Int32

  fileprivate init(_ frames: LargeFrames, _ process: Int32) { (self.frames, self.process) = (frames, process) }
  deinit { frames.giveBack(process) }
}
