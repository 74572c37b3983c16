internal import CofferFiles
internal import Dispatch

/// Shows widgets: calls their providers for timelines, passes the entries to a renderer at their dates, and serves the requests
/// of the app's programs. It takes the role of Apple's home screen.
public final class WidgetHost: Sendable {
  private enum Event: Sendable {
    case requests
    case time
    case timeline(ScheduledTimeline, widget: Int, number: Int)
  }

  private let widgets: [ConfiguredWidget]
  private let names: [KindName]
  private let queues: [DispatchQueue]
  private let renderer: any WidgetRenderer
  private let clock: any HostClock
  private let place: RequestPlace

  /// - Throws: `notInApp`, `noWidgets`, `kindNotAllowed`, `duplicateKind`.
  public convenience init(_ bundle: some WidgetBundle, renderer: any WidgetRenderer = LineRenderer()) throws(WidgetError) {
    try self.init(bundle.body.body.widgets, renderer: renderer)
  }

  package init(
    _ widgets: [ConfiguredWidget], renderer: any WidgetRenderer, clock: any HostClock = WallClock(),
    environment: (String) -> String? = { Environment[$0] }
  ) throws(WidgetError) {
    place = try RequestPlace(environment: environment)
    guard !widgets.isEmpty else { throw WidgetError(.noWidgets, "the bundle has no widgets") }
    var names: [KindName] = []
    for widget in widgets {
      let name = try KindName(widget.kind)
      guard !names.contains(name) else { throw WidgetError(.duplicateKind, "two widgets are of the kind \(name.kind)") }
      names.append(name)
    }
    self.widgets = widgets
    self.names = names
    queues = names.map { DispatchQueue(label: "coffer.widgets.provider.\($0.kind)") }
    self.renderer = renderer
    self.clock = clock
  }

  /// In the order of the bundle.
  public var kinds: [String] { names.map(\.kind) }

  /// Shows the widgets until the task is cancelled.
  /// - Throws: `kindInUse`, `notWatchable`, `container`; the last two also while running.
  @concurrent public func run() async throws(WidgetError) {
    let (events, sender) = AsyncStream<Event>.makeStream()
    var hosted = try HostedKinds(names, in: place) { sender.yield(.requests) }
    var schedules = names.map { _ in TimelineSchedule() }
    clock.onWake { sender.yield(.time) }
    defer { clock.wake(at: nil) }
    advance(&schedules, sender)
    for await event in events {
      switch event {
      case .requests:
        for (index, count) in try hosted.take().enumerated() { schedules[index].addRequests(count) }
      case .time: break
      case .timeline(let timeline, let widget, let number): schedules[widget].answer(timeline, to: number, at: clock.now)
      }
      advance(&schedules, sender)
    }
  }

  /// Performs everything that is due.
  private func advance(_ schedules: inout [TimelineSchedule], _ sender: AsyncStream<Event>.Continuation) {
    let now = clock.now
    for index in schedules.indices {
      if let entry = schedules[index].due(at: now) { show(entry, index) }
      guard let number = schedules[index].ask(at: now) else { continue }
      let widget = widgets[index]
      queues[index].async {
        widget.load(TimelineProviderContext()) { sender.yield(.timeline($0, widget: index, number: number)) }
      }
    }
    clock.wake(at: schedules.compactMap(\.nextDate).min())
  }

  private func show(_ entry: ScheduledEntry, _ index: Int) {
    do {
      try renderer.show(entry.text(), of: names[index].kind, date: entry.date)
    } catch {
      // Other widgets are shown nevertheless.
      Diagnostics.notShown(names[index].kind, error)
    }
  }
}
