internal import Preferences
internal import PropertyLists
internal import Synchronization

/// The observed keys of one store, each as long as somebody uses it or may wait for its next change.
///
/// A key that was read and whose readers have gone stays until it changes once more, or the store goes: a reader of Swift's
/// `Observation` need not keep what it has read.
final class ObservedKeys: Sendable {
  private struct Entry: Sendable {
    let key: ObservedKey
    let observation: PreferenceObservation
    var useCount: Int
  }

  private struct Entries: Sendable {
    var all: [PropertyListDictionary.Key: Entry] = [:]

    mutating func use(_ id: PropertyListDictionary.Key) -> ObservedKey? {
      all[id]?.useCount += 1
      return all[id]?.key
    }
  }

  private let entries = Mutex(Entries())
  /// What was reported to be of another type.
  private let reported = Mutex<[ReportedType: PropertyListValue]>([:])

  private struct ReportedType: Hashable {
    let key: PropertyListDictionary.Key
    let type: ObjectIdentifier
  }

  var count: Int { entries.withLock { $0.all.count } }

  /// The same object for the same name, as long as one of the uses is there.
  func use(_ name: String, of list: SearchList) -> ObservedKeyUse {
    let id = PropertyListDictionary.Key(name)
    if let key = entries.withLock({ $0.use(id) }) { return ObservedKeyUse(key, self) }
    // Not under the lock: observing asks domains, which may come to what a program has to say about damaged files.
    let new = ObservedKey(name)
    let observation = list.observe(name) { [weak self] change in
      new.deliver(change)
      self?.removeIdle(id)
    }
    let (key, isNew) = entries.withLock { entries -> (ObservedKey, Bool) in
      if let key = entries.use(id) { return (key, false) }
      entries.all[id] = Entry(key: new, observation: observation, useCount: 1)
      return (new, true)
    }
    if !isNew { observation.cancel() }
    return ObservedKeyUse(key, self)
  }

  /// Says in the log that the value is of another type, where that has not been said of it already.
  func report(_ stored: PropertyListValue, forKey name: String, isNo type: Any.Type) {
    let id = ReportedType(key: PropertyListDictionary.Key(name), type: ObjectIdentifier(type))
    let isNews = reported.withLock { $0.updateValue(stored, forKey: id) != stored }
    if isNews { Diagnostics.notReadable(name, type) }
  }

  fileprivate func end(_ key: ObservedKey) {
    let id = PropertyListDictionary.Key(key.name)
    entries.withLock { $0.all[id]?.useCount -= 1 }
    removeIdle(id)
  }

  private func removeIdle(_ id: PropertyListDictionary.Key) {
    // What goes ends its observation outside of the lock.
    let gone = entries.withLock { entries -> Entry? in
      guard let entry = entries.all[id], entry.useCount == 0, !entry.key.mayBeAwaited else { return nil }
      return entries.all.removeValue(forKey: id)
    }
    withExtendedLifetime(gone) {}
  }
}

/// Keeps an observed key in use.
final class ObservedKeyUse: Sendable {
  let key: ObservedKey
  private let keys: ObservedKeys

  init(_ key: ObservedKey, _ keys: ObservedKeys) {
    self.key = key
    self.keys = keys
  }

  deinit { keys.end(key) }
}
