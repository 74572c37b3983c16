import CLinux
import Glibc
import Synchronization

/// One at a time: who comes later waits, in order, and only so many and so long.
final class FairQueue: Sendable {
  enum Failure: Error, Equatable {
    /// Too many wait already.
    case full
    /// It was not this one's turn in time.
    case late
    /// The requester has closed its connection.
    case withdrawn
  }

  /// The limit for waiting requests.
  static let maximumCount = 16
  /// The limit for one program, so that other programs get a turn.
  static let maximumCountPerProgram = 4

  private struct Waiting {
    let program: ProgramIdentity
    /// Told when it is its turn.
    let descriptor: Int32
  }

  private struct State {
    var isBusy = false
    var waiting: [Waiting] = []
  }

  private let state = Mutex(State())
  private let milliseconds: Int32
  private let maximumCount: Int
  private let maximumCountPerProgram: Int

  /// - Parameter milliseconds: How long a caller waits for a turn.
  init(
    milliseconds: Int32, maximumCount: Int = FairQueue.maximumCount,
    perProgram maximumCountPerProgram: Int = FairQueue.maximumCountPerProgram
  ) {
    self.milliseconds = milliseconds
    self.maximumCount = maximumCount
    self.maximumCountPerProgram = maximumCountPerProgram
  }

  var waitingCount: Int { state.withLock { $0.waiting.count } }
  var isBusy: Bool { state.withLock { $0.isBusy } }

  /// Runs `body` when it is its turn.
  /// - Parameter connection: Hangs up when its client does not wait any more.
  /// - Throws: `Failure`; what `body` throws.
  func inTurn<Result: ~Copyable>(_ program: ProgramIdentity, _ connection: Int32, _ body: () throws -> Result) throws -> Result {
    let descriptor = coffer_eventfd()
    guard descriptor >= 0 else { throw Failure.full }
    defer { close(descriptor) }
    let isOurs = try state.withLock { state in
      guard state.isBusy else {
        state.isBusy = true
        return true
      }
      guard state.waiting.count < maximumCount,
        state.waiting.count(where: { $0.program == program }) < maximumCountPerProgram
      else { throw Failure.full }
      state.waiting.append(Waiting(program: program, descriptor: descriptor))
      return false
    }
    if !isOurs { try wait(descriptor, connection) }
    defer { next() }
    return try body()
  }

  private func wait(_ descriptor: Int32, _ connection: Int32) throws {
    // Only the end of the connection counts, not what has been sent meanwhile.
    var entries = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: connection, events: 0, revents: 0),
    ]
    let end = AgentVault.clock() + Int64(milliseconds)
    var ready: Int32
    repeat {
      ready = unsafe poll(&entries, 2, Int32(clamping: max(0, end - AgentVault.clock())))
    } while ready < 0 && errno == EINTR
    let isStillWaiting = state.withLock { state in
      let index = state.waiting.firstIndex { $0.descriptor == descriptor }
      if let index { state.waiting.remove(at: index) }
      return index != nil
    }
    let isGone = entries[1].revents != 0
    guard isStillWaiting || isGone else { return }
    // Its turn has come at the same moment.
    if !isStillWaiting { next() }
    throw isGone ? Failure.withdrawn : Failure.late
  }

  private func next() {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isBusy = false
        return
      }
      var one: UInt64 = 1
      unsafe _ = write(state.waiting.removeFirst().descriptor, &one, 8)
    }
  }
}
