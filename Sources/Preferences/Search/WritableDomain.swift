public import PropertyLists

/// A domain that the program may change. Thread-safe.
public protocol WritableDomain: PreferenceDomain {
  /// Nil removes. An equal value is no change.
  /// - Throws: A limit, or what the system said.
  func set(_ value: PropertyListValue?, forKey key: String) throws(PreferenceError)
  /// As `set`, for all keys at one moment.
  func apply(_ edits: [(key: String, value: PropertyListValue?)]) throws(PreferenceError)
  func replaceAll(with values: PropertyListDictionary) throws(PreferenceError)
  /// Changes values that depend on what they were, at one moment, in which nobody else changes them. `body` must not use the domain.
  func update(
    _ keys: [String], _ body: (PropertyListDictionary) -> [(key: String, value: PropertyListValue?)]
  ) throws(PreferenceError)
  /// As `set`, but where the disk refuses, the value stays in this process's memory, and the error is returned. Limits still refuse.
  func keep(_ value: PropertyListValue?, forKey key: String) -> PreferenceError?
  /// Returns when all changes of this process are on the disk.
  func synchronize() throws(PreferenceError)
}

/// In the place of a domain that cannot be had: the program runs on its defaults, and what it sets stays in memory. Thread-safe.
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
