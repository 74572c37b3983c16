import CofferWidgets
import Foundation
import Synchronization

// A program of an app for tests: shows widgets that count how often they were asked, or asks for new timelines.
//
//   host           shows A, B and C until standard input ends; `KIND TAB COUNT` for each time that a provider is asked
//   host-twice     a bundle in which two widgets have one kind
//   host-one KIND  shows this kind alone
//   reload COUNT KIND, reload-all COUNT
//   request KIND   says "acknowledged"
//   list           the kinds that somebody shows

struct Count: TimelineEntry, CustomStringConvertible {
  let date: Date
  let number: Int

  var description: String { "\(number)" }
}

final class CountingProvider: TimelineProvider {
  private let count = Mutex(0)

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Count>) -> Void) {
    let number = count.withLock { count in
      count += 1
      return count
    }
    completion(Timeline(entries: [Count(date: .distantPast, number: number)], policy: .never))
  }
}

struct WidgetA: Widget {
  var body: some WidgetConfiguration { StaticConfiguration(kind: "A", provider: CountingProvider()) }
}

struct WidgetB: Widget {
  var body: some WidgetConfiguration { StaticConfiguration(kind: "B", provider: CountingProvider()) }
}

struct WidgetC: Widget {
  var body: some WidgetConfiguration { StaticConfiguration(kind: "C", provider: CountingProvider()) }
}

struct NamedWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: CommandLine.arguments[2], provider: CountingProvider())
  }
}

struct FirstBundle: WidgetBundle {
  var body: some Widget {
    WidgetA()
    WidgetB()
  }
}

struct SecondBundle: WidgetBundle {
  var body: some Widget { WidgetC() }
}

struct Everything: WidgetBundle {
  var body: some Widget {
    FirstBundle()
    SecondBundle().body
  }
}

struct Twice: WidgetBundle {
  var body: some Widget {
    Everything()
    WidgetB()
  }
}

@main
struct WidgetProbe {
  static func main() async throws {
    // A test that is ended from outside leaves nobody who would end this program.
    alarm(600)
    let arguments = CommandLine.arguments.dropFirst() + ["", ""]
    let (command, first) = (arguments[1], arguments[2])
    switch command {
    case "host":
      // Its end is the test's to say.
      Thread.detachNewThread {
        while readLine() != nil {}
        exit(0)
      }
      await Everything.main()
    case "host-one": await NamedWidget.main()
    case "host-twice": await Twice.main()
    case "reload":
      for _ in 0..<(Int(first) ?? 0) { WidgetCenter.shared.reloadTimelines(ofKind: arguments[3]) }
    case "reload-all":
      for _ in 0..<(Int(first) ?? 0) { WidgetCenter.shared.reloadAllTimelines() }
    case "request":
      try WidgetCenter.shared.requestReload(ofKind: first)
      FileHandle.standardOutput.write(Data("acknowledged\n".utf8))
    case "list":
      let shown = try await WidgetCenter.shared.currentConfigurations()
      print(shown.map(\.kind).joined(separator: " "))
    default: exit(2)
    }
  }
}
