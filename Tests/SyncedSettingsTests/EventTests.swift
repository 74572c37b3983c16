import CofferPreferences
import CofferPropertyLists
import CofferTesting
import Foundation
import Synchronization
import Testing
import Waiting

@testable import SyncedSettings

/// Events for the app, of changes by other devices.
@Suite struct EventTests {
  private let bench: StoreBench

  init() throws { bench = try StoreBench() }

  @Test func oldEventsAreMerged() throws {
    let (app, projection) = (try bench.app(), try bench.projection())
    for number in 0..<300 { try projection.receive([SyncedChange("k\(number)", .integer(1))], .serverChange) }
    let events = app.events(after: 0)
    #expect(events.count == SyncedProjection.eventCount)
    #expect(events.map(\.sequence) == Array(45...300))
    #expect(Set(app.changedKeys(in: events)) == Set((0..<300).map { "k\($0)" }))
  }

  @Test func eventsOfManyKeysAreMergedEarlier() throws {
    let projection = try bench.projection()
    for round in 0..<12 {
      let changes = (0..<1000).map {
        SyncedChange("\($0)" + String(repeating: "k", count: 60), .integer(Int64(round)), UInt8(round))
      }
      try projection.receive(changes, .serverChange)
    }
    #expect((2..<10).contains(projection.store.events(after: 0).count))
  }

  @Test func removedKeysLeaveMergedEvents() throws {
    let projection = try bench.projection()
    for round in 0..<5 {
      let keys = (0..<1000).map { "\(round) \($0)" + String(repeating: "k", count: 55) }
      try projection.receive(keys.map { SyncedChange($0, .integer(1)) }, .serverChange)
      try projection.receive(keys.map { SyncedChange($0, nil, 2) }, .serverChange)
    }
    #expect(projection.store.events(after: 0)[0].keys.count <= SyncedProjection.mergedKeyCount)
  }

  @Test func theWeightiestReasonIsTold() {
    func event(_ reason: SyncedReason) -> SyncedEvent { SyncedEvent(sequence: 1, reason: reason, keys: .init()) }
    let order: [SyncedReason] = [.accountChange, .initialSync, .serverChange]
    for (index, first) in order.enumerated() {
      for second in order[index...] {
        #expect(event(first).merged(with: event(second)).reason == first)
        #expect(event(second).merged(with: event(first)).reason == first)
      }
    }
  }

  /// A program that did not run for long learns of them too.
  @Test func eventsOfRefusedValuesStayApart() throws {
    let projection = try bench.projection()
    for number in 0..<300 {
      let reason: SyncedReason = number % 100 == 10 ? .quotaViolation : .serverChange
      try projection.receive([SyncedChange("k\(number)", .integer(1))], reason)
    }
    let events = projection.store.events(after: 0)
    #expect(events.count == SyncedProjection.eventCount && events.map(\.sequence) == events.map(\.sequence).sorted())
    for (isRefusal, count) in [(true, 3), (false, 297)] {
      let kind = events.filter { $0.isRefusal == isRefusal }
      let numbers = projection.store.changedKeys(in: kind).compactMap { Int($0.dropFirst()) }
      #expect(numbers.count == count && numbers.allSatisfy { ($0 % 100 == 10) == isRefusal })
    }
  }

  @Test func numbersGoOnAfterALoss() throws {
    let app = try bench.app()
    for number in Int64(0)..<5 { try bench.projection().receive([SyncedChange("k", .integer(number))], .serverChange) }
    try app.noteSeen(5)
    try app.noteSeen(3)
    #expect(app.seen == 5)
    try app.state.replaceAll(with: PropertyListDictionary())
    try bench.projection().receive([SyncedChange("other", .integer(9))], .serverChange)
    #expect(try bench.app().events(after: 5).map(\.sequence) == [6])
    // An app cannot make the program that synchronises count beyond the greatest number.
    try app.requests.set(.integer(.max), forKey: "seen")
    #expect(app.seen == 0)
  }

  @Test func eventsAreObservedInOrder() throws {
    ChangeWatch.start()
    let app = try bench.app()
    let seen = Mutex<[Int64]>([])
    let observation = app.observeEvents { event in seen.withLock { $0.append(event.sequence) } }
    let projection = try bench.projection()
    for number in Int64(0)..<20 { try projection.receive([SyncedChange("k", .integer(number))], .serverChange) }
    try wait(for: "20 events") { seen.withLock { $0.count } >= 20 }
    #expect(seen.withLock { $0 } == Array(1...20))
    observation.cancel()
  }

  @Test func requestsAndChangesAreHeard() throws {
    ChangeWatch.start()
    let projection = try bench.projection()
    let changed = Mutex<[String]>([])
    let asked = Mutex(0)
    let observation = projection.store.observeRequests { keys in
      changed.withLock { $0 += keys }
    } asked: {
      asked.withLock { $0 += 1 }
    }
    let app = try bench.app()
    try projection.receive([SyncedChange("own", .integer(1))], .serverChange)
    try app.values.set(.integer(1), forKey: "k")
    try wait(for: "the change") { changed.withLock { $0 } == ["k"] }
    for round in 1...3 {
      try app.askForPush()
      try app.noteSeen(Int64(round))
      try wait(for: "request \(round)") { asked.withLock { $0 } == round }
    }
    observation.cancel()
  }
}
