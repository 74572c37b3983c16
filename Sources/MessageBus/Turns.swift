import CLinux
import CofferFiles
import Glibc
import Synchronization

/// Which of two threads has the bus. The one that has it may carry out a call itself, which takes less time than to wake up another one for
/// it. If that takes long, the other one takes the bus, so that no client waits for the call of another one.
final class Turns: Sendable {
  /// How long others wait for a call at most. Most are done in a tenth of it.
  private static let milliseconds: Int32 = 2

  private struct State {
    /// Whether a thread waits for its turn.
    var hasOther = false
    /// Whether that one may take the bus, because a call is being carried out.
    var isFree = false
    var failure: Bus.Failure?
  }

  private let state = Mutex(State())
  private let timer: OwnedDescriptor
  private let ended: EventNotifier

  /// nil if the process has no descriptor left.
  init?() {
    guard let timer = OwnedDescriptor(coffer_timer()), let ended = EventNotifier() else { return nil }
    self.timer = timer
    self.ended = ended
  }

  var hasOther: Bool { state.withLock { $0.hasOther } }

  /// On the thread that has the bus, while `hasOther`.
  /// - Returns: Whether it still has it afterwards.
  func carryOut(_ call: () -> Void) -> Bool {
    state.withLock { $0.isFree = true }
    // Afterwards: a time that is over before would be missed.
    _ = coffer_set_timer(timer.number, Self.milliseconds)
    call()
    return state.withLock { state in
      defer { state.isFree = false }
      return state.isFree
    }
  }

  /// - Returns: Whether this thread has the bus; else all is over.
  func waitForTurn() -> Bool {
    state.withLock { $0.hasOther = true }
    while true {
      guard !ended.wait(for: timer.number).isCalled else { return false }
      var count: UInt64 = 0
      _ = unsafe read(timer.number, &count, 8)
      // The timer is not stopped when a call ends in time.
      let isTaken = state.withLock { state in
        guard state.isFree else { return false }
        (state.isFree, state.hasOther) = (false, false)
        return true
      }
      if isTaken { return true }
    }
  }

  // MARK: The end

  func end(_ failure: Bus.Failure? = nil) {
    state.withLock { $0.failure = failure }
    ended.call()
  }

  func awaitEnd() throws(Bus.Failure) {
    _ = ended.wait()
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }
}
