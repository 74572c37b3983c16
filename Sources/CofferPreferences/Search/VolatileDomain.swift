public import CofferPropertyLists
internal import Synchronization

/// A domain in the memory of the process: arguments, registered values, the settings of a language.
///
/// Thread-safe. A change is visible to every thread before the changing call returns.
public final class VolatileDomain: PreferenceDomain {
  private let state: Mutex<PropertyListDictionary>
  private let version: Atomic<UInt64>
  private let observers = PreferenceObservers()

  /// A domain in memory with values.
  public init(_ values: PropertyListDictionary = PropertyListDictionary()) {
    state = Mutex(values)
    // The stamp starts at a random number, so that the sums of the stamps of two lists are unlikely to be equal.
    version = Atomic(UInt64.random(in: 0 ... .max))
  }

  public var stamp: UInt64 { version.load(ordering: .acquiring) }

  public func value(forKey key: String) -> PropertyListValue? { state.withLock { $0[key] } }

  public func values() -> PropertyListDictionary { state.withLock { $0 } }

  public func observe(
    note: @escaping @Sendable (PreferenceChange) -> Void,
    tell: @escaping @Sendable (PreferenceChange.Origin, [String]) -> Void
  ) -> PreferenceObservation {
    observers.add(note: note, tell: tell)
  }

  /// Sets a value; nil removes it.
  public func set(_ value: PropertyListValue?, forKey key: String) { apply([(key, value)]) }

  /// Sets all keys at once; nil removes.
  public func apply(_ edits: [(key: String, value: PropertyListValue?)]) {
    change { values in
      var old = PropertyListDictionary()
      var known = Set<PropertyListDictionary.Key>()
      for edit in edits {
        if known.insert(.init(edit.key)).inserted { old[edit.key] = values[edit.key] }
        values[edit.key] = edit.value
      }
      return known.sorted().compactMap { key in
        let (old, new) = (old[key.name], values[key.name])
        return old == new ? nil : PreferenceChange.Key(key.name, old: old, new: new)
      }
    }
  }

  /// Replaces all values.
  public func replaceAll(with values: PropertyListDictionary) {
    change { current in
      defer { current = values }
      return PreferenceChange.difference(from: current, to: values)
    }
  }

  /// The stamp changes under the lock: a thread that reads the new stamp reads the new values, or waits for them.
  private func change(_ body: (inout PropertyListDictionary) -> [PreferenceChange.Key]) {
    let keys = state.withLock { values in
      let keys = body(&values)
      if !keys.isEmpty { version.wrappingAdd(1, ordering: .releasing) }
      observers.note(.thisProcess, keys)
      return keys
    }
    observers.tell(.thisProcess, keys.map(\.name))
  }
}

extension PreferenceChange {
  /// The keys whose values differ, in byte order.
  package static func difference(from old: PropertyListDictionary, to new: PropertyListDictionary) -> [Key] {
    var keys: [Key] = []
    for (name, value) in old.sorted where new[name] != value { keys.append(Key(name, old: value, new: new[name])) }
    for (name, value) in new.sorted where old[name] == nil { keys.append(Key(name, old: nil, new: value)) }
    return keys.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }
}
