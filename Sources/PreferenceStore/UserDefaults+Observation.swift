public import CofferPreferences
public import CofferPropertyLists
internal import Foundation

extension UserDefaults {
  /// A change of one key: the values that reading the key returns, from whichever place of the search list.
  public struct Change: Sendable {
    /// The key that has changed.
    public let key: String
    /// The previous value; nil if the key had none.
    public let oldValue: PropertyListValue?
    /// The new value; nil if the key has none.
    public let newValue: PropertyListValue?
    /// Whether this process or another one made the change.
    public let origin: PreferenceChange.Origin
    /// Whether this is the present value rather than a change; see `ObservationOptions.initial`.
    public let isInitial: Bool

    /// The previous result of `object(forKey:)`; nil if the key had no value.
    public var old: Any? { oldValue?.foundationValue }
    /// The new result of `object(forKey:)`; nil if the key has no value.
    public var new: Any? { newValue?.foundationValue }
  }

  /// Options of `observe`.
  public struct ObservationOptions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Calls the handler with the present value at once, before `observe` returns.
    public static let initial = ObservationOptions(rawValue: 1)
  }

  /// Calls `handler` after each change of the value that reading the key returns: by `set`, another process, `register`, an added
  /// suite, or the administrator's settings. The key may contain dots. Setting an equal value, or changing a place that a
  /// preceding place hides, is not a change.
  ///
  /// Changes are delivered one by one, in the order in which they were made, with the values before and after. Changes by another
  /// process may be merged into one with the last value in two cases: if that process compacted its journal twice before this
  /// process read it, or if it wrote the property list directly. The queue of undelivered changes is unbounded.
  ///
  /// The handler runs outside of all locks and never on two threads at a time: on the thread that made the change, on a thread
  /// that is delivering another change, or on a thread of the store. It may change settings. If the handler itself changes this
  /// key, the change is delivered to it before the changing call returns.
  /// - Returns: The observation. It ends when this object is deallocated or cancelled. It retains the settings, but not this
  ///   `UserDefaults` object.
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

  /// The changes of one key from now on, as delivered by `observe`. The stream never ends by itself; its buffer is unbounded.
  public func changes(forKey key: String) -> AsyncStream<Change> {
    stream { continuation in observe(key) { continuation.yield($0) } }
  }

  /// The changes of all keys from now on. Each change costs a copy of all values.
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
