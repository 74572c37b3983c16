internal import Foundation

/// A timeline as its host sees it.
struct ScheduledTimeline: Sendable {
  let entries: [ScheduledEntry]
  let policy: TimelineReloadPolicy
}

struct ScheduledEntry: Sendable {
  let date: Date
  let text: @Sendable () -> String
}

/// When a widget shows what, and when its provider is asked. It knows no clock: the host says what time it is.
struct TimelineSchedule {
  /// Between a timeline and the next one that only a policy asks for, in seconds.
  static let shortestInterval: TimeInterval = 60

  /// How often the provider is to be asked, whatever the policy says: at first, and for each request.
  private var owed = 1
  private var number = 0
  private var isAsking = false
  /// In the order of their dates, without those that were shown or passed over.
  private var coming: ArraySlice<ScheduledEntry> = []
  private var reloadDate: Date?

  /// The count is the size of a file, which programs of the app can make as large as they like.
  mutating func addRequests(_ count: Int) {
    let (sum, hasOverflown) = owed.addingReportingOverflow(count)
    owed = hasOverflown ? .max : sum
  }

  /// - Returns: The number of the question, if the provider is to be asked now.
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

  /// The answer to question `number`; a second one to the same is ignored.
  mutating func answer(_ timeline: ScheduledTimeline, to number: Int, at now: Date) {
    guard isAsking, number == self.number else { return }
    isAsking = false
    // Swift's sort keeps the order of equal ones.
    coming = timeline.entries.sorted { $0.date < $1.date }[...]
    let earliest = now + Self.shortestInterval
    reloadDate =
      switch timeline.policy.moment {
      case .never: nil
      case .date(let date): max(date, earliest)
      case .end: max(coming.last?.date ?? earliest, earliest)
      }
  }

  /// The entry to show now: the last one whose date has come. Those before it are passed over.
  mutating func due(at now: Date) -> ScheduledEntry? {
    let passed = coming.prefix { $0.date <= now }
    coming = coming.dropFirst(passed.count)
    return passed.last
  }

  /// When there is something to do without a request.
  var nextDate: Date? {
    // While the provider is asked, the old timeline goes on, and its policy does not matter.
    [coming.first?.date, isAsking ? nil : reloadDate].compactMap { $0 }.min()
  }
}
