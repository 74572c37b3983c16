import CLinux
import CofferFiles
import Glibc
import Pinentry
import Synchronization

/// Asks the owner for the passphrase, in a window: `coffer vault unlock` does that, starts the agent if none runs, and gives the agent the
/// credential. This process never has it. One window at a time, which answers all who wait.
final class Unlocking: Sendable {
  /// After a refusal no window opens for so long, or any program could keep the owner busy.
  static let quietMilliseconds: Int64 = 60_000

  private struct Waiter: Sendable {
    let deadline: Int64
    let body: @Sendable (Bool) -> Void
  }

  private struct State {
    var waiters: [Waiter] = []
    var isAsking = false
    var quietUntil: Int64 = 0
  }

  private let command: String
  private let state = Mutex(State())

  /// - Parameter command: The path of `coffer`.
  init(command: String) { self.command = command }

  /// Whether there is a display.
  var canAsk: Bool { Display.current.hasDisplay }

  /// - Parameter body: Called once, with whether the vault was unlocked; on another thread, or at once.
  func ask(within milliseconds: Int64, _ body: @escaping @Sendable (Bool) -> Void) {
    let now = Self.now()
    let step = state.withLock { state -> (isRefused: Bool, begins: Bool) in
      guard state.isAsking || now >= state.quietUntil else { return (true, false) }
      state.waiters.append(Waiter(deadline: now + milliseconds, body: body))
      defer { state.isAsking = true }
      return (false, !state.isAsking)
    }
    guard !step.isRefused, canAsk else { return step.isRefused ? body(false) : finish(false) }
    if step.begins, !DetachedThread.start("coffer-unlock", { self.run() }) { finish(false) }
  }

  private func run() {
    var program = ChildProgram(command, ["vault", "unlock"])
    program.streams = [.none, .none, .none]
    // Without a terminal, so that the question comes in a window.
    program.hasSession = true
    program.blocked = ChildProgram.noSignals
    let (process, reason) = program.start()
    guard reason == 0 else { return finish(false) }
    watch(process)
    finish(ChildProgram.wait(for: process) == 0)
  }

  /// Until the window has closed. One for which nothing waits any more is closed.
  private func watch(_ process: Int32) {
    guard let descriptor = OwnedDescriptor(coffer_pidfd_open(process)) else { return }
    while true {
      var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&entry, 1, Self.lookMilliseconds) == 0 else { return }
      guard expire() else {
        kill(process, SIGTERM)
        return
      }
    }
  }

  private static let lookMilliseconds: Int32 = 500

  /// Answers those whose time is over.
  /// - Returns: Whether any is left.
  private func expire() -> Bool {
    let now = Self.now()
    let (over, isAwaited) = state.withLock { state -> ([Waiter], Bool) in
      let over = state.waiters.filter { $0.deadline <= now }
      state.waiters.removeAll { $0.deadline <= now }
      return (over, !state.waiters.isEmpty)
    }
    for waiter in over { waiter.body(false) }
    return isAwaited
  }

  private func finish(_ isUnlocked: Bool) {
    let waiters = state.withLock { state in
      defer { (state.waiters, state.isAsking) = ([], false) }
      if !isUnlocked { state.quietUntil = Self.now() + Self.quietMilliseconds }
      return state.waiters
    }
    for waiter in waiters { waiter.body(isUnlocked) }
  }

  private static func now() -> Int64 { Int64(Deadline.now() / 1_000_000) }
}
