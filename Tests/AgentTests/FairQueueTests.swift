import Foundation
import Synchronization
import Testing
import Waiting

@testable import CofferAgent

@Suite(.timeLimit(.minutes(60))) struct FairQueueTests {
  private let queue = FairQueue(milliseconds: 60_000)

  /// Something that has its turn until it is told to end.
  final class Turn: @unchecked Sendable {
    private let end = DispatchSemaphore(value: 0)
    private let done = DispatchSemaphore(value: 0)
    let failure = Mutex<FairQueue.Failure?>(nil)

    init(_ queue: FairQueue, _ program: String) {
      Foundation.Thread.detachNewThread { [self] in
        do {
          try queue.inTurn(.app(program), -1) { end.wait() }
        } catch {
          failure.withLock { $0 = error as? FairQueue.Failure }
        }
        done.signal()
      }
    }

    func finish() {
      end.signal()
      done.wait()
    }
  }

  private func waitForWaiting(_ count: Int, _ queue: FairQueue) throws {
    try wait(for: "\(count) wait") { queue.waitingCount == count }
  }

  @Test func theQueueIsBounded() throws {
    let first = Turn(queue, "first")
    try wait(for: "the first has its turn") { queue.isBusy }
    let waiting = try (0..<FairQueue.maximumCount).map { index in
      let turn = Turn(queue, "\(index)")
      try waitForWaiting(index + 1, queue)
      return turn
    }
    #expect(throws: FairQueue.Failure.full) { try queue.inTurn(.command, -1) {} }
    // In order: each ends when it is told to, and the next has its turn.
    first.finish()
    for turn in waiting {
      turn.finish()
      #expect(turn.failure.withLock { $0 } == nil)
    }
    #expect(try queue.inTurn(.command, -1) { 5 } == 5)
  }

  /// Also where many may wait.
  @Test func theQueueOfOneProgramIsShorter() throws {
    let queue = FairQueue(milliseconds: 60_000, maximumCount: 3, perProgram: 2)
    let first = Turn(queue, "first")
    try wait(for: "the first has its turn") { queue.isBusy }
    var waiting: [Turn] = []
    for program in ["a", "a", "b"] {
      waiting.append(Turn(queue, program))
      try waitForWaiting(waiting.count, queue)
      if waiting.count == 2 { #expect(throws: FairQueue.Failure.full) { try queue.inTurn(.app("a"), -1) {} } }
    }
    #expect(throws: FairQueue.Failure.full) { try queue.inTurn(.app("c"), -1) {} }
    for turn in [first] + waiting {
      turn.finish()
      #expect(turn.failure.withLock { $0 } == nil)
    }
  }

  @Test func nobodyWaitsForEver() throws {
    let queue = FairQueue(milliseconds: 1)
    let first = Turn(queue, "first")
    try wait(for: "the first has its turn") { queue.isBusy }
    #expect(throws: FairQueue.Failure.late) { try queue.inTurn(.command, -1) {} }
    #expect(queue.waitingCount == 0)
    first.finish()
    try queue.inTurn(.command, -1) {}
  }

  @Test func aTurnThatFailsIsOver() throws {
    struct Failed: Error {}
    #expect(throws: Failed.self) { try queue.inTurn(.command, -1) { throw Failed() } }
    try queue.inTurn(.command, -1) {}
  }
}
