public import Foundation

/// What a widget shows from a moment on.
public protocol TimelineEntry: Sendable {
  var date: Date { get }
}

/// When the provider is asked for a new timeline without a request. A policy never asks sooner than a minute after the last timeline
/// came: one whose entries are all in the past would be asked for without end.
public struct TimelineReloadPolicy: Sendable, Equatable {
  enum Moment: Equatable {
    case end
    case date(Date)
    case never
  }

  let moment: Moment

  /// When the date of the last entry has come.
  public static let atEnd = Self(moment: .end)
  public static let never = Self(moment: .never)

  public static func after(_ date: Date) -> Self { Self(moment: .date(date)) }
}

public struct Timeline<Entry: TimelineEntry>: Sendable {
  public let entries: [Entry]
  public let policy: TimelineReloadPolicy

  /// - Parameter entries: In any order.
  public init(entries: [Entry], policy: TimelineReloadPolicy) {
    self.entries = entries
    self.policy = policy
  }
}

/// What a provider is asked for. There is one size and no gallery, so there is nothing to say yet; it is here because Apple's providers
/// have a parameter of this type.
public struct TimelineProviderContext: Sendable {
  /// Always false: what is shown is meant.
  public let isPreview = false
}

/// Makes the timelines of a widget. A provider that was written for WidgetKit fits as it is; its `placeholder(in:)` and
/// `getSnapshot(in:completion:)` are never called by a host, because there is no gallery.
public protocol TimelineProvider: Sendable {
  associatedtype Entry: TimelineEntry
  typealias Context = TimelineProviderContext

  /// Called on a queue of this widget's own, one call at a time: the next one comes after `completion` was called. Only the first call
  /// of `completion` counts. While it has not come, the widget shows what it has; others are not held up.
  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<Entry>) -> Void)

  /// An entry that stands for all. It is here so that a provider as Xcode makes it says by it what an `Entry` is; where there is none,
  /// the first entry of the timeline, and no answer where that is empty.
  func getSnapshot(in context: Context, completion: @escaping @Sendable (Entry) -> Void)
}

extension TimelineProvider {
  public func getSnapshot(in context: Context, completion: @escaping @Sendable (Entry) -> Void) {
    getTimeline(in: context) { timeline in
      if let first = timeline.entries.min(by: { $0.date < $1.date }) { completion(first) }
    }
  }
}
