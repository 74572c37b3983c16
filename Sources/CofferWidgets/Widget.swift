/// A kind of widget: its name, with which programs request new timelines, and its provider.
public protocol Widget {
  /// The type of `body`.
  associatedtype Body: WidgetConfiguration

  /// Makes the widget, without arguments.
  init()
  /// The content of the widget.
  var body: Body { get }
}

/// The content of a widget, made with `StaticConfiguration`.
public protocol WidgetConfiguration {
  /// The widgets that it configures.
  var widgets: [ConfiguredWidget] { get }
}

/// A widget whose entries depend on its provider only.
public struct StaticConfiguration<Provider: TimelineProvider>: WidgetConfiguration {
  private let widget: ConfiguredWidget

  /// - Parameters:
  ///   - kind: The name for `WidgetCenter.reloadTimelines(ofKind:)`, unique in the app.
  ///   - content: Makes the text of an entry, when it is shown.
  public init(kind: String, provider: Provider, content: @escaping @Sendable (Provider.Entry) -> String) {
    widget = ConfiguredWidget(kind: kind) { context, completion in
      provider.getTimeline(in: context) { timeline in
        completion(
          ScheduledTimeline(
            entries: timeline.entries.map { entry in ScheduledEntry(date: entry.date) { content(entry) } },
            policy: timeline.policy))
      }
    }
  }

  /// The one widget.
  public var widgets: [ConfiguredWidget] { [widget] }
}

extension StaticConfiguration where Provider.Entry: CustomStringConvertible {
  /// The text is the entry's description.
  public init(kind: String, provider: Provider) {
    self.init(kind: kind, provider: provider) { $0.description }
  }
}

/// A widget without the type of its entries, as hosts use it.
public struct ConfiguredWidget: Sendable {
  typealias Completion = @Sendable (ScheduledTimeline) -> Void

  /// The kind, which is unique in an app.
  public let kind: String
  /// The text of `configurationDisplayName(_:)`, for programs that let people choose widgets.
  public internal(set) var displayName: String?
  /// The text of `description(_:)`.
  public internal(set) var description: String?
  /// The families of `supportedFamilies(_:)`; a renderer decides how to use them.
  public internal(set) var families: [WidgetFamily] = []
  let load: @Sendable (TimelineProviderContext, @escaping Completion) -> Void

  init(kind: String, load: @escaping @Sendable (TimelineProviderContext, @escaping Completion) -> Void) {
    self.kind = kind
    self.load = load
  }
}
