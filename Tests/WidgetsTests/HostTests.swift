import Foundation
import Synchronization
import Testing
import Waiting

@testable import CofferWidgets

/// A host in this process, with a clock that the test sets.
@Suite(.timeLimit(.minutes(60))) struct HostTests {
  private final class ManualClock: HostClock {
    private struct State {
      var now = Date(timeIntervalSinceReferenceDate: 0)
      var date: Date?
      var body: @Sendable () -> Void = {}
    }

    private let state = Mutex(State())

    var now: Date { state.withLock { $0.now } }
    /// The date at which the host is to be woken.
    var date: Date? { state.withLock { $0.date } }

    func onWake(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.body = body } }
    func wake(at date: Date?) { state.withLock { $0.date = date } }

    func advance(to seconds: TimeInterval) {
      let body = state.withLock { state in
        state.now = Date(timeIntervalSinceReferenceDate: seconds)
        guard let date = state.date, date <= state.now else { return nil as (@Sendable () -> Void)? }
        state.date = nil
        return state.body
      }
      body?()
    }
  }

  /// The shown entries and the calls of providers, in order.
  private final class Events: WidgetRenderer {
    private let stream: AsyncStream<String>
    private let sender: AsyncStream<String>.Continuation
    private let limit: Duration = .seconds(longestWait)

    init() { (stream, sender) = AsyncStream<String>.makeStream() }

    func show(_ text: String, of kind: String, date: Date) throws {
      if text == "unshowable" { throw CocoaError(.fileWriteUnknown) }
      say("\(kind) shows \(text)")
    }

    func say(_ text: String) { sender.yield(text) }

    func next() async throws -> String {
      let (stream, limit) = (stream, limit)
      return try await withThrowingTaskGroup(of: String.self) { group in
        group.addTask { await stream.first { _ in true } ?? "the end" }
        group.addTask {
          try await Task.sleep(for: limit)
          return "nothing"
        }
        defer { group.cancelAll() }
        return try await group.next() ?? ""
      }
    }
  }

  private struct Entry: TimelineEntry {
    let date: Date
    let text: String
  }

  private struct Provider: TimelineProvider {
    let name: String
    let events: Events
    let answer: @Sendable (@escaping @Sendable (Timeline<Entry>) -> Void) -> Void

    func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Entry>) -> Void) {
      events.say("\(name) is asked")
      answer(completion)
    }
  }

  private let app: AppPrograms
  private let clock = ManualClock()
  private let events = Events()

  init() throws { app = try AppPrograms() }

  private static func entry(_ seconds: TimeInterval, _ text: String) -> Entry {
    Entry(date: Date(timeIntervalSinceReferenceDate: seconds), text: text)
  }

  private func widgets(
    _ kind: String, _ answer: @escaping @Sendable (@escaping @Sendable (Timeline<Entry>) -> Void) -> Void
  ) -> [ConfiguredWidget] {
    StaticConfiguration(kind: kind, provider: Provider(name: kind, events: events, answer: answer)) { $0.text }.widgets
  }

  private func host(_ widgets: [ConfiguredWidget]) throws(WidgetError) -> WidgetHost {
    let environment = app.environment
    return try WidgetHost(widgets, renderer: events, clock: clock) { environment[$0] }
  }

  private func center() -> WidgetCenter {
    let environment = app.environment
    return WidgetCenter { environment[$0] }
  }

  private func showing(_ widgets: [ConfiguredWidget], _ body: () async throws -> Void) async throws {
    let host = try host(widgets)
    let running = Task { try await host.run() }
    do {
      try await body()
    } catch {
      running.cancel()
      throw error
    }
    running.cancel()
    try await running.value
  }

  @Test func entriesAndPolicyFollowTheClock() async throws {
    let widgets = widgets("A") { completion in
      completion(Timeline(entries: [Self.entry(0, "first"), Self.entry(100, "second")], policy: .atEnd))
    }
    try await showing(widgets) {
      #expect(try await events.next() == "A is asked")
      #expect(try await events.next() == "A shows first")
      try await waitAside(for: "the clock is set") { clock.date == Date(timeIntervalSinceReferenceDate: 100) }
      clock.advance(to: 100)
      #expect(try await events.next() == "A shows second")
      #expect(try await events.next() == "A is asked")
    }
    #expect(clock.date == nil)
  }

  @Test("a request is one question, in the process itself too") func requests() async throws {
    let widgets = ["A", "B"].flatMap { kind in
      self.widgets(kind) { $0(Timeline(entries: [Self.entry(0, "x")], policy: .never)) }
    }
    try await showing(widgets) {
      var begin: Set<String> = []
      for _ in 0..<4 { begin.insert(try await events.next()) }
      #expect(begin == ["A is asked", "A shows x", "B is asked", "B shows x"])
      #expect(try await center().currentConfigurations().map(\.kind) == ["A", "B"])
      let (listings, sender) = AsyncStream<[String]>.makeStream()
      center().getCurrentConfigurations { result in sender.yield(((try? result.get()) ?? []).map(\.kind)) }
      #expect(await listings.first { _ in true } == ["A", "B"])
      for _ in 0..<3 {
        center().reloadTimelines(ofKind: "B")
        #expect(try await events.next() == "B is asked")
        #expect(try await events.next() == "B shows x")
      }
    }
    #expect(try await center().currentConfigurations().isEmpty)
  }

  @Test("a provider that does not answer holds up no other") func silentProvider() async throws {
    let silent = widgets("silent") { _ in }
    let other = widgets("other") { $0(Timeline(entries: [Self.entry(0, "x")], policy: .never)) }
    try await showing(silent + other) {
      var begin: Set<String> = []
      for _ in 0..<3 { begin.insert(try await events.next()) }
      #expect(begin == ["silent is asked", "other is asked", "other shows x"])
      center().reloadTimelines(ofKind: "silent")
      center().reloadTimelines(ofKind: "other")
      #expect(try await events.next() == "other is asked")
      #expect(try await events.next() == "other shows x")
    }
  }

  @Test("an entry that cannot be shown is skipped") func failingRenderer() async throws {
    let bad = widgets("bad") { $0(Timeline(entries: [Self.entry(0, "unshowable")], policy: .never)) }
    try await showing(bad) {
      let first = try await events.next()
      center().reloadTimelines(ofKind: "bad")
      let second = try await events.next()
      #expect([first, second] == ["bad is asked", "bad is asked"])
    }
  }

  @Test func invalidBundlesAreRefused() throws {
    func code(_ kinds: [String]) -> WidgetError.Code? {
      do throws(WidgetError) {
        _ = try host(kinds.flatMap { widgets($0) { _ in } })
        return nil
      } catch {
        return error.code
      }
    }
    #expect(code([]) == .noWidgets)
    #expect(code([""]) == .kindNotAllowed)
    #expect(code([String(repeating: "k", count: 250)]) == nil && code([String(repeating: "k", count: 251)]) == .kindNotAllowed)
    #expect(code(["A", "B", "A"]) == .duplicateKind)
    // Two normal forms of one letter.
    #expect(code(["\u{E9}", "e\u{301}"]) == .duplicateKind)
    #expect(code(["../A", "a b", "天気"]) == nil)
  }

  @Test("the wall clock wakes at its date, and for no date that is none") func wallClock() async throws {
    let clock = WallClock()
    let (woken, sender) = AsyncStream<Date>.makeStream()
    clock.onWake { sender.yield(Date()) }
    let date = Date() + 0.2
    for never in [nil, .distantFuture, Date(timeIntervalSinceReferenceDate: .nan)] as [Date?] { clock.wake(at: never) }
    clock.wake(at: date)
    let first = try #require(await woken.first { _ in true })
    #expect(first >= date)
    clock.wake(at: .distantPast)
    #expect(await woken.first { _ in true } != nil)
  }
}
