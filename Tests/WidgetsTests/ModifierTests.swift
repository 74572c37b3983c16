import Foundation
import Testing

@testable import CofferWidgets

/// A widget from Xcode's template, without its view.
private struct Entry: TimelineEntry {
  let date: Date
}

private struct Provider: TimelineProvider {
  func placeholder(in context: Context) -> Entry { Entry(date: Date()) }
  func getSnapshot(in context: Context, completion: @escaping @Sendable (Entry) -> Void) { completion(Entry(date: Date())) }
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Entry>) -> Void) {
    completion(Timeline(entries: [Entry(date: Date())], policy: .atEnd))
  }
}

private struct MyWidget: Widget {
  let kind: String = "MyWidget"

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: kind, provider: Provider()) { entry in
      "\(entry.date)"
    }
    .configurationDisplayName("My Widget")
    .description("This is an example widget.")
    .supportedFamilies([.systemSmall, .systemMedium])
  }
}

@Suite struct ModifierTests {
  @Test("the modifiers of a widget's configuration are kept, and its kind and provider stay")
  func modifiers() async throws {
    let widgets = MyWidget().body.widgets
    #expect(widgets.map(\.kind) == ["MyWidget"])
    #expect(widgets.map(\.displayName) == ["My Widget"])
    #expect(widgets.map(\.description) == ["This is an example widget."])
    #expect(widgets.map(\.families) == [[.systemSmall, .systemMedium]])
    let timeline = await withCheckedContinuation { continuation in
      widgets[0].load(TimelineProviderContext()) { continuation.resume(returning: $0) }
    }
    #expect(timeline.entries.count == 1)
  }
}
