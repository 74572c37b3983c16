import CofferFiles
import Glibc
import Synchronization
import Testing

@testable import MessageBus
@testable import SecretService

/// On which threads `coffer-secrets` carries out calls.
@Suite struct CallThreadTests {
  private final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .acquiring) }
    func add() { count.add(1, ordering: .acquiringAndReleasing) }

    /// - Returns: Whether it has become so many within a minute.
    func reaches(_ wanted: Int) -> Bool {
      for _ in 0..<60_000 where value < wanted { usleep(1000) }
      return value >= wanted
    }
  }

  // MARK: The bus

  private func waiting(_ turns: Turns, _ body: @escaping @Sendable (Bool) -> Void) throws {
    #expect(DetachedThread.start("other") { body(turns.waitForTurn()) })
    for _ in 0..<60_000 where !turns.hasOther { usleep(1000) }
    try #require(turns.hasOther)
  }

  @Test func theOtherThreadTakesTheBusFromALongCall() throws {
    let (turns, taken) = (try #require(Turns()), Counter())
    try waiting(turns) { if $0 { taken.add() } }
    let hasBus = turns.carryOut { #expect(taken.reaches(1)) }
    #expect(!hasBus && !turns.hasOther)
    // It has come to its end, and waits for its turn.
    try waiting(turns) { _ in taken.add() }
    turns.end()
    #expect(taken.reaches(2))
    try turns.awaitEnd()
  }

  /// Many calls, some of which end at the moment at which their time is over: one thread has the bus at each moment.
  @Test func oneThreadHasTheBus() throws {
    let (turns, wrong) = (try #require(Turns()), Counter())
    let calls = Atomic<Int>(0)
    let hasBus = Mutex<UInt64?>(nil)
    @Sendable func alternate(_ number: UInt64, _ isFirst: Bool) {
      var isTurn = isFirst
      while isTurn || turns.waitForTurn() {
        isTurn = true
        while isTurn {
          hasBus.withLock { owner in
            if owner != nil { wrong.add() }
            owner = number
          }
          let count = calls.add(1, ordering: .relaxed).newValue
          // The time of the call before is over meanwhile.
          if count % 5 == 0 { usleep(3000) }
          guard count < 300 else { return turns.end() }
          hasBus.withLock { $0 = nil }
          isTurn = turns.hasOther ? turns.carryOut { usleep(count % 3 == 0 ? 2000 : 100) } : true
        }
      }
    }
    #expect(DetachedThread.start("first") { alternate(1, true) })
    #expect(DetachedThread.start("second") { alternate(2, false) })
    try turns.awaitEnd()
    #expect(wrong.value == 0)
  }

  @Test func theFailureIsToldToTheOneWhoWaits() throws {
    let turns = try #require(Turns())
    turns.end(Bus.Failure(what: "the bus", number: EIO))
    #expect(throws: Bus.Failure.self) { try turns.awaitEnd() }
    #expect(!turns.waitForTurn())
  }

  // MARK: Threads

  private func job(_ sender: String, _ body: @escaping @Sendable () -> Void) -> Workers.Job {
    job(sender, isChange: false, body)
  }

  private func job(
    _ sender: String, isChange: Bool, _ body: @escaping @Sendable () -> Void, drop: @escaping @Sendable () -> Void = {}
  ) -> Workers.Job {
    let run = { @Sendable () -> Bool in
      body()
      return true
    }
    return Workers.Job(sender: sender, isChange: isChange, run: run, drop: drop)
  }

  /// libsecret sends a call for each item that it has found: 10,000 at once are not refused.
  @Test func oneSenderMayHaveManyCalls() throws {
    let (workers, done) = (Workers(), Counter())
    for _ in 0..<Workers.maximumCalls { try workers.submit(job("a", done.add)) }
    #expect(throws: BusError.self) { try workers.submit(job("a", done.add)) }
    try workers.submit(job("b", done.add))
    #expect(Workers.maximumCalls > 10_000 && workers.begin(mayTake: false) == nil)
    #expect(done.reaches(Workers.maximumCalls + 1))
    try workers.submit(job("a", done.add))
  }

  /// Two senders with many calls hold up a third one by a few of them.
  @Test func sendersTakeTurns() throws {
    let workers = Workers()
    let order = Mutex<[String]>([])
    let gate = Counter()
    for sender in ["a", "b"] {
      for _ in 0..<500 {
        try workers.submit(
          job(sender) {
            while gate.value == 0 { sched_yield() }
            order.withLock { $0.append(sender) }
          })
      }
    }
    #expect(workers.begin(mayTake: false) == nil)
    try workers.submit(job("c") { order.withLock { $0.append("c") } })
    #expect(workers.begin(mayTake: false) == nil)
    gate.add()
    while order.withLock({ $0.count }) < 1001 { usleep(1000) }
    let place = order.withLock { $0.firstIndex(of: "c") } ?? 1001
    #expect(place < 100, "\(place)")
  }

  /// Reads of a sender that has gone are of no use, and a change may have been sent by a program that does not wait.
  @Test func readsOfASenderThatHasGoneAreDropped() throws {
    let (workers, done, dropped, changes) = (Workers(), Counter(), Counter(), Counter())
    for _ in 0..<3 {
      try workers.submit(job("a", isChange: false, done.add, drop: dropped.add))
      try workers.submit(job("a", isChange: true, changes.add, drop: dropped.add))
    }
    workers.forget("a")
    #expect(dropped.value == 3)
    _ = workers.begin(mayTake: false)
    #expect(changes.reaches(3) && done.value == 0)
    while !workers.isIdle { usleep(1000) }
  }

  @Test func aCallThatIsAloneIsTaken() throws {
    let (workers, done) = (Workers(), Counter())
    #expect(workers.begin(mayTake: true) == nil)
    try workers.submit(job("a", done.add))
    let taken = try #require(workers.begin(mayTake: true))
    #expect(done.value == 0)
    taken()
    #expect(done.value == 1)
    // Several go to threads, and one does if it may not be taken.
    for sender in ["a", "b"] { try workers.submit(job(sender, done.add)) }
    #expect(workers.begin(mayTake: true) == nil)
    #expect(done.reaches(3))
    try workers.submit(job("a", done.add))
    #expect(workers.begin(mayTake: false) == nil)
    #expect(done.reaches(4))
  }

  /// A change waits for the one before it of its sender, also if that one was taken.
  @Test func changesKeepTheirOrder() throws {
    let (workers, done) = (Workers(), Counter())
    func change(_ body: @escaping @Sendable () -> Void) -> Workers.Job {
      job("a", isChange: true, body)
    }
    try workers.submit(change { done.add() })
    let first = try #require(workers.begin(mayTake: true))
    try workers.submit(change { if done.value == 1 { done.add() } })
    #expect(workers.begin(mayTake: false) == nil)
    usleep(20_000)
    #expect(done.value == 0)
    first()
    #expect(done.reaches(2))
  }

  /// Calls come at the moment at which a thread without one ends.
  @Test func aCallThatAThreadIsGivenAsItEndsIsDone() throws {
    let (workers, done) = (Workers(idleMilliseconds: 0), Counter())
    for number in 1...20_000 {
      try workers.submit(job("a", done.add))
      _ = workers.begin(mayTake: false)
      for _ in 0..<(number % 64) { sched_yield() }
      guard number % 32 == 0 else { continue }
      try #require(done.reaches(number))
    }
  }
}
