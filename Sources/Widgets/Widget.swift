/// A kind of widget: a name by which programs ask for new timelines, and who makes them.
public protocol Widget {
  associatedtype Body: WidgetConfiguration

  init()
  var body: Body { get }
}

/// What a widget consists of. Made of `StaticConfiguration`.
public protocol WidgetConfiguration {
  var widgets: [ConfiguredWidget] { get }
}

/// A widget whose entries depend on nothing but its provider.
public struct StaticConfiguration<Provider: TimelineProvider>: WidgetConfiguration {
  private let widget: ConfiguredWidget

  /// - Parameters:
  ///   - kind: What `WidgetCenter.reloadTimelines(ofKind:)` names. No two of an app may have the same.
  ///   - content: The text of an entry, made when the entry is shown.
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

  public var widgets: [ConfiguredWidget] { [widget] }
}

extension StaticConfiguration where Provider.Entry: CustomStringConvertible {
  /// The text is the entry's description.
  public init(kind: String, provider: Provider) {
    self.init(kind: kind, provider: provider) { $0.description }
  }
}

/// A widget as its host sees it: without the type of its entries.
public struct ConfiguredWidget: Sendable {
  typealias Completion = @Sendable (ScheduledTimeline) -> Void

  public let kind: String
  /// For a program that lets people choose: the text of `configurationDisplayName(_:)`.
  public internal(set) var displayName: String?
  /// The text of `description(_:)`.
  public internal(set) var description: String?
  /// Those of `supportedFamilies(_:)`; there is one size here, so it is up to the renderer what they mean.
  public internal(set) var families: [WidgetFamily] = []
  let load: @Sendable (TimelineProviderContext, @escaping Completion) -> Void

  init(kind: String, load: @escaping @Sendable (TimelineProviderContext, @escaping Completion) -> Void) {
    self.kind = kind
    self.load = load
  }
}
