public import CofferPropertyLists

/// A domain that the program can change. Thread-safe.
public protocol WritableDomain: PreferenceDomain {
  /// Sets a value; nil removes it. Setting an equal value is not a change.
  /// - Throws: A limit of `PreferenceLimits`, or an error of the system.
  func set(_ value: PropertyListValue?, forKey key: String) throws(PreferenceError)
  /// As `set`, for all keys in one transaction.
  /// - Throws: `PreferenceError`.
  func apply(_ edits: [(key: String, value: PropertyListValue?)]) throws(PreferenceError)
  /// Replaces all values.
  /// - Throws: `PreferenceError`.
  func replaceAll(with values: PropertyListDictionary) throws(PreferenceError)
  /// Changes values depending on their previous values, in one transaction. `body` must not use the domain.
  /// - Throws: `PreferenceError`.
  func update(
    _ keys: [String], _ body: (PropertyListDictionary) -> [(key: String, value: PropertyListValue?)]
  ) throws(PreferenceError)
  /// As `set`; but if the disk refuses, the value stays in this process's memory, and the error is returned. Values beyond the
  /// limits are refused.
  func keep(_ value: PropertyListValue?, forKey key: String) -> PreferenceError?
  /// Returns when all changes by this process are on the disk.
  /// - Throws: `PreferenceError`.
  func synchronize() throws(PreferenceError)
}

/// Stands in for a domain that cannot be used: the program runs on its defaults, and values that it sets stay in memory.
/// Thread-safe.
package final class UnavailableDomain: WritableDomain {
  private let memory = VolatileDomain()
  private let reason: PreferenceError

  package init(_ reason: PreferenceError) { self.reason = reason }

  package var stamp: UInt64 { memory.stamp }
  package func value(forKey key: String) -> PropertyListValue? { memory.value(forKey: key) }
  package func values() -> PropertyListDictionary { memory.values() }
  package func observe(
    note: @escaping @Sendable (PreferenceChange) -> Void,
    tell: @escaping @Sendable (PreferenceChange.Origin, [String]) -> Void
  ) -> PreferenceObservation {
    memory.observe(note: note, tell: tell)
  }
  package func set(_ value: PropertyListValue?, forKey key: String) throws(PreferenceError) { throw reason }
  package func apply(_ edits: [(key: String, value: PropertyListValue?)]) throws(PreferenceError) { throw reason }
  package func replaceAll(with values: PropertyListDictionary) throws(PreferenceError) { throw reason }
  package func update(
    _ keys: [String], _ body: (PropertyListDictionary) -> [(key: String, value: PropertyListValue?)]
  ) throws(PreferenceError) { throw reason }
  package func synchronize() throws(PreferenceError) { throw reason }

  package func keep(_ value: PropertyListValue?, forKey key: String) -> PreferenceError? {
    memory.set(value, forKey: key)
    return reason
  }
}
