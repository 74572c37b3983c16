public import Foundation

/// The content of a widget from a date on.
public protocol TimelineEntry: Sendable {
  /// The date from which the entry is shown.
  var date: Date { get }
}

/// When the host asks the provider for a new timeline without a request. The host waits at least a minute after the last
/// timeline; otherwise a timeline with only past entries would be requested in an endless loop.
public struct TimelineReloadPolicy: Sendable, Equatable {
  enum Moment: Equatable {
    case end
    case date(Date)
    case never
  }

  let moment: Moment

  /// At the date of the last entry.
  public static let atEnd = Self(moment: .end)
  /// Not at all: only a request asks the provider again.
  public static let never = Self(moment: .never)

  /// Asks the provider again at `date`.
  public static func after(_ date: Date) -> Self { Self(moment: .date(date)) }
}

/// The entries of a widget, and when to ask for the next ones.
public struct Timeline<Entry: TimelineEntry>: Sendable {
  /// The entries, as they were passed.
  public let entries: [Entry]
  /// When the provider is asked again.
  public let policy: TimelineReloadPolicy

  /// - Parameter entries: In any order.
  public init(entries: [Entry], policy: TimelineReloadPolicy) {
    self.entries = entries
    self.policy = policy
  }
}

/// The context of a provider's call. Empty, because there is one size and no gallery; it exists for source compatibility, because
/// Apple's providers have a parameter of this type.
public struct TimelineProviderContext: Sendable {
  /// Always false, because there is no gallery.
  public let isPreview = false
}

/// Makes the timelines of a widget. A provider written for WidgetKit works unchanged; a host never calls its `placeholder(in:)`
/// and `getSnapshot(in:completion:)`, because there is no gallery.
public protocol TimelineProvider: Sendable {
  /// The type of the entries.
  associatedtype Entry: TimelineEntry
  /// The context that a provider gets.
  typealias Context = TimelineProviderContext

  /// Called on a queue of this widget's own, one call at a time: the next call follows after `completion`. Only the first call of
  /// `completion` counts. Until then the widget shows its previous timeline; other widgets are not delayed.
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Entry>) -> Void)

  /// An entry that represents the widget. By default the first entry of the timeline; no call of `completion` if it is empty.
  /// Xcode's template implements it, and Swift infers `Entry` from it.
  func getSnapshot(in context: Context, completion: @escaping @Sendable (Entry) -> Void)
}

extension TimelineProvider {
  public func getSnapshot(in context: Context, completion: @escaping @Sendable (Entry) -> Void) {
    getTimeline(in: context) { timeline in
      if let first = timeline.entries.min(by: { $0.date < $1.date }) { completion(first) }
    }
  }
}
