internal import Foundation
public import Preferences
public import PropertyLists

extension UserDefaults {
  /// What has become of one key: the values that reading it gives, wherever in the list they come from.
  public struct Change: Sendable {
    public let key: String
    public let oldValue: PropertyListValue?
    public let newValue: PropertyListValue?
    /// Whether this process made the change, or another one.
    public let origin: PreferenceChange.Origin
    /// Whether this tells of the present value, not of a change.
    public let isInitial: Bool

    /// As `object(forKey:)` gave it before. Nil where there was none.
    public var old: Any? { oldValue?.foundationValue }
    /// As `object(forKey:)` gives it. Nil where there is none.
    public var new: Any? { newValue?.foundationValue }
  }

  public struct ObservationOptions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Tells of the present value at once, before the call returns.
    public static let initial = ObservationOptions(rawValue: 1)
  }

  /// Calls `handler` after each change of what reading the key gives: by `set`, by another process, by `register`, by a suite that is
  /// added, by the administrator. The key may have dots in it. An equal value, or a change in a place that another hides, is none.
  ///
  /// Each change is told, in the order in which they were made, with the values before and after it. Only what another process has written
  /// to a journal that was made short twice before this process looked, or to the property list, may be told as one change, which leads to
  /// the last value. Changes wait without limit for a handler that is slow.
  ///
  /// The handler runs under no lock, never on two threads at a time: on the thread that made the change, on one that is telling of another
  /// change, or on a thread of the store. It may change settings. A change of this key by the handler itself is told, to it, before the
  /// call that makes the change returns.
  /// - Returns: The observation ends with this object, or when it is cancelled. It keeps the settings, but not this store object.
  public func observe(
    _ key: String, options: ObservationOptions = [], _ handler: @escaping @Sendable (Change) -> Void
  ) -> PreferenceObservation {
    list.observe(key) { value in
      guard options.contains(.initial) else { return }
      handler(Change(key: key, oldValue: nil, newValue: value, origin: .thisProcess, isInitial: true))
    } _: { change in
      for change in Change.all(in: change) { handler(change) }
    }
  }

  /// The changes of one key from now on, as `observe` tells of them. Never ends by itself. Changes wait without limit for who reads them.
  public func changes(forKey key: String) -> AsyncStream<Change> {
    stream { continuation in observe(key) { continuation.yield($0) } }
  }

  /// The changes of all keys from now on. Each new one costs a copy of all values.
  public var changes: AsyncStream<Change> {
    stream { continuation in
      list.observeValues { change in
        for change in Change.all(in: change) { continuation.yield(change) }
      }
    }
  }

  private func stream(
    _ observe: (AsyncStream<Change>.Continuation) -> PreferenceObservation
  ) -> AsyncStream<Change> {
    let (stream, continuation) = AsyncStream<Change>.makeStream()
    let observation = observe(continuation)
    continuation.onTermination = { _ in observation.cancel() }
    return stream
  }
}

extension UserDefaults.Change {
  fileprivate static func all(in change: PreferenceChange) -> [Self] {
    change.keys.map {
      Self(key: $0.name, oldValue: $0.old, newValue: $0.new, origin: change.origin, isInitial: false)
    }
  }
}
