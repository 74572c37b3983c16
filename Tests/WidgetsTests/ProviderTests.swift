import Foundation
import Synchronization
import Testing

@testable import CofferWidgets

// Xcode's template for a new widget, without the view.
struct SimpleEntry: TimelineEntry {
  let date: Date
}

struct TemplateProvider: TimelineProvider {
  func placeholder(in context: Context) -> SimpleEntry {
    SimpleEntry(date: Date())
  }

  func getSnapshot(in context: Context, completion: @escaping (SimpleEntry) -> Void) {
    let entry = SimpleEntry(date: .distantPast)
    completion(entry)
  }

  func getTimeline(in context: Context, completion: @escaping (Timeline<Entry>) -> Void) {
    var entries: [SimpleEntry] = []
    let currentDate = Date(timeIntervalSinceReferenceDate: 0)
    for hourOffset in 0..<5 {
      let entryDate = Calendar.current.date(byAdding: .hour, value: hourOffset, to: currentDate)!
      let entry = SimpleEntry(date: entryDate)
      entries.append(entry)
    }
    let timeline = Timeline(entries: entries, policy: .atEnd)
    completion(timeline)
  }
}

private struct LateFirstProvider: TimelineProvider {
  let dates: [Double]

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<SimpleEntry>) -> Void) {
    completion(Timeline(entries: dates.map { SimpleEntry(date: Date(timeIntervalSinceReferenceDate: $0)) }, policy: .never))
  }
}

@Suite struct ProviderTests {
  private func snapshots(_ provider: some TimelineProvider) -> [Date] {
    let dates = Mutex<[Date]>([])
    provider.getSnapshot(in: TimelineProviderContext()) { entry in dates.withLock { $0.append(entry.date) } }
    return dates.withLock(\.self)
  }

  @Test("the provider of Xcode's template fits as it is") func template() {
    let counts = Mutex<[Int]>([])
    TemplateProvider().getTimeline(in: TimelineProviderContext()) { timeline in
      counts.withLock { $0.append(timeline.entries.count) }
    }
    #expect(counts.withLock(\.self) == [5])
    #expect(snapshots(TemplateProvider()) == [.distantPast])
    #expect(StaticConfiguration(kind: "K", provider: TemplateProvider()) { "\($0.date)" }.widgets.map(\.kind) == ["K"])
  }

  @Test("a provider without snapshots has the first entry of its timeline for one") func snapshot() {
    #expect(snapshots(LateFirstProvider(dates: [7, 3, 5])) == [Date(timeIntervalSinceReferenceDate: 3)])
    #expect(snapshots(LateFirstProvider(dates: [])) == [])
  }
}
