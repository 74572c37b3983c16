import CofferWidgets
import Foundation
import LuckyNumberStore

// The widget extension: shows the number from both places, and runs until it is ended.

struct LuckyNumberEntry: TimelineEntry {
  let date: Date
  let fromUserDefaults: Int
  let fromFile: Int
}

struct LuckyNumberProvider: TimelineProvider {
  func placeholder(in context: Context) -> LuckyNumberEntry { LuckyNumberEntry(date: Date(), fromUserDefaults: 0, fromFile: 0) }

  func getSnapshot(in context: Context, completion: @escaping (LuckyNumberEntry) -> Void) { completion(placeholder(in: context)) }

  func getTimeline(in context: Context, completion: @escaping (Timeline<LuckyNumberEntry>) -> Void) {
    let entry = LuckyNumberEntry(
      date: Date(), fromUserDefaults: LuckyNumberStore.numberFromUserDefaults, fromFile: LuckyNumberStore.numberFromFile)
    completion(Timeline(entries: [entry], policy: .never))
  }
}

struct LuckyNumberWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "LuckyNumber", provider: LuckyNumberProvider()) { entry in
      "From UserDefaults: \(entry.fromUserDefaults)\nFrom File: \(entry.fromFile)"
    }
  }
}

@main
struct LuckyNumberWidgets: WidgetBundle {
  var body: some Widget {
    LuckyNumberWidget()
  }
}
