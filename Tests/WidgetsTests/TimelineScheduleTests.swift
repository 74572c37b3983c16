import Foundation
import Testing

@testable import CofferWidgets

/// The schedule of entries and provider calls, at given times.
@Suite struct TimelineScheduleTests {
  /// An object, because expectations cannot call mutating functions of a value.
  private final class Schedule {
    private var value = TimelineSchedule()

    var nextDate: Date? { value.nextDate }

    func ask(at now: Date) -> Int? { value.ask(at: now) }
    func due(at now: Date) -> ScheduledEntry? { value.due(at: now) }
    func addRequests(_ count: Int) { value.addRequests(count) }

    func answer(_ timeline: ScheduledTimeline, to number: Int, at now: Date) { value.answer(timeline, to: number, at: now) }
  }

  private let schedule = Schedule()

  private static func time(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }

  private static func timeline(_ dates: [Double], _ policy: TimelineReloadPolicy) -> ScheduledTimeline {
    ScheduledTimeline(entries: dates.map { date in ScheduledEntry(date: time(date)) { "\(date)" } }, policy: policy)
  }

  /// Calls the provider, and answers at once.
  private func load(_ dates: [Double], _ policy: TimelineReloadPolicy, at now: Double) throws {
    let number = try #require(schedule.ask(at: Self.time(now)))
    schedule.answer(Self.timeline(dates, policy), to: number, at: Self.time(now))
  }

  @Test func entriesAreShownAtTheirDates() throws {
    try load([30, 10, 20], .never, at: 0)
    #expect(schedule.due(at: Self.time(9.9)) == nil)
    #expect(schedule.nextDate == Self.time(10))
    #expect(schedule.due(at: Self.time(10))?.text() == "10.0")
    #expect(schedule.due(at: Self.time(19)) == nil)
    // Late, as after suspend: past entries are skipped.
    #expect(schedule.due(at: Self.time(35))?.text() == "30.0")
    #expect(schedule.nextDate == nil && schedule.ask(at: Self.time(1e6)) == nil)
  }

  @Test func theLastOfEqualDatesIsShown() throws {
    let number = try #require(schedule.ask(at: Self.time(0)))
    let entries = ["a", "b", "c"].map { text in ScheduledEntry(date: Self.time(5)) { text } }
    schedule.answer(ScheduledTimeline(entries: entries, policy: .never), to: number, at: Self.time(0))
    #expect(schedule.due(at: Self.time(5))?.text() == "c")
  }

  @Test func atTheEndTheProviderIsAskedAgain() throws {
    try load([100, 200], .atEnd, at: 0)
    _ = schedule.due(at: Self.time(100))
    #expect(schedule.ask(at: Self.time(199)) == nil)
    _ = schedule.due(at: Self.time(199))
    #expect(schedule.nextDate == Self.time(200))
    #expect(schedule.ask(at: Self.time(200)) == 2)
    #expect(schedule.ask(at: Self.time(200)) == nil)
  }

  @Test func afterADate() throws {
    try load([0], .after(Self.time(500)), at: 0)
    _ = schedule.due(at: Self.time(0))
    #expect(schedule.nextDate == Self.time(500) && schedule.ask(at: Self.time(499)) == nil)
    #expect(schedule.ask(at: Self.time(500)) == 2)
  }

  @Test(arguments: [TimelineReloadPolicy.atEnd, .after(.distantPast), .after(Self.time(1))])
  func aPolicyWaitsForAMinute(policy: TimelineReloadPolicy) throws {
    try load([0], policy, at: 1000)
    _ = schedule.due(at: Self.time(1000))
    #expect(schedule.nextDate == Self.time(1060) && schedule.ask(at: Self.time(1059)) == nil)
    #expect(schedule.ask(at: Self.time(1060)) == 2)
    // Also without entries.
    schedule.answer(Self.timeline([], policy), to: 2, at: Self.time(2000))
    #expect(schedule.nextDate == Self.time(2060))
  }

  @Test func aRequestDoesNotWait() throws {
    try load([0], .never, at: 1000)
    schedule.addRequests(2)
    #expect(schedule.ask(at: Self.time(1000)) == 2)
    // One call after another.
    #expect(schedule.ask(at: Self.time(1001)) == nil)
    schedule.answer(Self.timeline([5000], .never), to: 2, at: Self.time(1001))
    #expect(schedule.ask(at: Self.time(1001)) == 3)
    schedule.answer(Self.timeline([6000], .never), to: 3, at: Self.time(1002))
    #expect(schedule.ask(at: Self.time(9000)) == nil)
    #expect(schedule.nextDate == Self.time(6000))
  }

  @Test func aRequestTakesThePlaceOfThePolicy() throws {
    try load([0], .after(Self.time(500)), at: 0)
    schedule.addRequests(1)
    #expect(schedule.ask(at: Self.time(500)) == 2)
    schedule.answer(Self.timeline([0], .never), to: 2, at: Self.time(500))
    #expect(schedule.ask(at: Self.time(10_000)) == nil)
  }

  @Test func onlyTheFirstAnswerCounts() throws {
    let number = try #require(schedule.ask(at: Self.time(0)))
    schedule.answer(Self.timeline([10], .never), to: number, at: Self.time(0))
    schedule.answer(Self.timeline([20], .never), to: number, at: Self.time(0))
    #expect(schedule.nextDate == Self.time(10))
    schedule.addRequests(1)
    #expect(schedule.ask(at: Self.time(1)) == 2)
    // A late answer to a call that was answered already.
    schedule.answer(Self.timeline([30], .never), to: number, at: Self.time(1))
    #expect(schedule.nextDate == Self.time(10))
    schedule.answer(Self.timeline([40], .never), to: 2, at: Self.time(1))
    #expect(schedule.nextDate == Self.time(40))
  }

  @Test func whileTheProviderIsAskedTheOldTimelineGoesOn() throws {
    try load([10, 20], .atEnd, at: 0)
    schedule.addRequests(1)
    #expect(schedule.ask(at: Self.time(1)) == 2)
    #expect(schedule.due(at: Self.time(10))?.text() == "10.0")
    #expect(schedule.nextDate == Self.time(20))
  }

  @Test func noNumberOfRequestsIsTooLarge() throws {
    schedule.addRequests(.max)
    schedule.addRequests(.max)
    try load([10], .never, at: 0)
    #expect(schedule.ask(at: Self.time(1)) != nil)
  }
}
