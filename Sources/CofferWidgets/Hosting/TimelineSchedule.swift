internal import Foundation

/// A timeline without the type of its entries, as hosts use it.
struct ScheduledTimeline: Sendable {
  let entries: [ScheduledEntry]
  let policy: TimelineReloadPolicy
}

struct ScheduledEntry: Sendable {
  let date: Date
  let text: @Sendable () -> String
}

/// Computes which entry a widget shows and when its provider is called. It reads no clock: the host passes the time.
struct TimelineSchedule {
  /// The least time, in seconds, between a timeline and the next one that its policy asks for.
  static let shortestInterval: TimeInterval = 60

  /// The number of calls of the provider that are due regardless of the policy: one at first, and one for each request.
  private var owed = 1
  private var number = 0
  private var isAsking = false
  /// Sorted by date, without those that were shown or skipped.
  private var coming: ArraySlice<ScheduledEntry> = []
  private var reloadDate: Date?

  /// Adds without overflow: the count is the size of a file, which programs of the app can make as large as they like.
  mutating func addRequests(_ count: Int) {
    let (sum, hasOverflown) = owed.addingReportingOverflow(count)
    owed = hasOverflown ? .max : sum
  }

  /// - Returns: The number of the call, if the provider is to be called now.
  mutating func ask(at now: Date) -> Int? {
    guard !isAsking else { return nil }
    if owed > 0 {
      owed -= 1
    } else {
      guard let reloadDate, reloadDate <= now else { return nil }
    }
    reloadDate = nil
    isAsking = true
    number += 1
    return number
  }

  /// The timeline of call `number`; a second one for the same call is ignored.
  mutating func answer(_ timeline: ScheduledTimeline, to number: Int, at now: Date) {
    guard isAsking, number == self.number else { return }
    isAsking = false
    // Swift's sort is stable.
    coming = timeline.entries.sorted { $0.date < $1.date }[...]
    let earliest = now + Self.shortestInterval
    reloadDate =
      switch timeline.policy.moment {
      case .never: nil
      case .date(let date): max(date, earliest)
      case .end: max(coming.last?.date ?? earliest, earliest)
      }
  }

  /// The entry to show now: the last one whose date has passed. Those before it are skipped.
  mutating func due(at now: Date) -> ScheduledEntry? {
    let passed = coming.prefix { $0.date <= now }
    coming = coming.dropFirst(passed.count)
    return passed.last
  }

  /// The date of the next action without a request.
  var nextDate: Date? {
    // During a call of the provider the old timeline continues, without its policy.
    [coming.first?.date, isAsking ? nil : reloadDate].compactMap { $0 }.min()
  }
}
