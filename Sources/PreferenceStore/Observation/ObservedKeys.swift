internal import CofferPreferences
internal import CofferPropertyLists
internal import Synchronization

/// The observed keys of one search list. Each lives as long as it is in use, or a reader waits for its next change: a reader
/// tracked by Swift's `Observation` need not retain the wrapper or the store.
final class ObservedKeys: Sendable {
  private struct Entries: Sendable {
    var all: [PropertyListDictionary.Key: ObservedKeyEntry] = [:]
    /// The number of entries at which `sweep` removes idle ones. It is needed because a tracked reader whose tracking ended by
    /// the change of another key gives no notice.
    var limit = ObservedKeys.leastLimit

    mutating func use(_ id: PropertyListDictionary.Key) -> (ObservedKey, ObservedKey.ReadPath)? {
      guard let path = all[id]?.use(), let key = all[id]?.key else { return nil }
      return (key, path)
    }

    mutating func sweep() -> [ObservedKeyEntry] {
      guard all.count > limit else { return [] }
      let idle = all.filter { $0.value.isIdle }
      for id in idle.keys { all[id] = nil }
      limit = max(ObservedKeys.leastLimit, 2 * all.count)
      return Array(idle.values)
    }
  }

  private static let leastLimit = 64

  private let entries = Mutex(Entries())
  /// The values already reported as having another type.
  private let reported = Mutex<[ReportedType: PropertyListValue]>([:])

  private struct ReportedType: Hashable {
    let key: PropertyListDictionary.Key
    let type: ObjectIdentifier
  }

  var count: Int { entries.withLock { $0.all.count } }

  /// The same object for the same name, as long as it is in use or a reader waits.
  /// - Parameter list: The list that this object belongs to.
  func use(_ name: String, of list: SearchListUse) -> ObservedKeyUse {
    let id = PropertyListDictionary.Key(name)
    if let (key, path) = entries.withLock({ $0.use(id) }) { return ObservedKeyUse(key, path, self, list) }
    // Outside of the lock: observing reads domains, which may call the program's log handler about damaged files.
    let key = ObservedKey(name)
    let observation = list.application.list.observe(name) { [weak self] change in
      key.deliver(change)
      self?.removeIdle(id)
    }
    let new = ObservedKeyEntry(key, observation)
    // Removed entries end their observation outside of the lock.
    let (used, gone) = entries.withLock { entries in
      if let used = entries.use(id) { return (used, [new]) }
      let gone = entries.sweep()
      var entry = new
      let path = entry.use()
      entries.all[id] = entry
      return ((key, path), gone)
    }
    withExtendedLifetime(gone) {}
    return ObservedKeyUse(used.0, used.1, self, list)
  }

  /// Logs that the value has another type, once for each value.
  func report(_ stored: PropertyListValue, forKey name: String, isNo type: Any.Type) {
    let id = ReportedType(key: PropertyListDictionary.Key(name), type: ObjectIdentifier(type))
    let isNews = reported.withLock { $0.updateValue(stored, forKey: id) != stored }
    if isNews { Diagnostics.notReadable(name, type) }
  }

  fileprivate func end(_ key: ObservedKey, _ list: SearchListUse) {
    let id = PropertyListDictionary.Key(key.name)
    entries.withLock { $0.all[id]?.end(list) }
    removeIdle(id)
  }

  private func removeIdle(_ id: PropertyListDictionary.Key) {
    // Removed entries end their observation outside of the lock.
    let gone = entries.withLock { entries in
      entries.all[id]?.isIdle == true ? entries.all.removeValue(forKey: id) : nil
    }
    withExtendedLifetime(gone) {}
  }
}

private struct ObservedKeyEntry: Sendable {
  let key: ObservedKey
  private let observation: PreferenceObservation
  private var useCount = 0
  /// Set while the key is in use.
  private var path: ObservedKey.ReadPath?
  private weak var mark: ReaderMark?
  /// Keeps the list, and with it the entries, alive for waiting readers.
  private var list: SearchListUse?

  init(_ key: ObservedKey, _ observation: PreferenceObservation) {
    self.key = key
    self.observation = observation
  }

  mutating func use() -> ObservedKey.ReadPath {
    useCount += 1
    list = nil
    if let path { return path }
    let mark = mark ?? ReaderMark()
    let path = ObservedKey.path(mark)
    (self.path, self.mark) = (path, mark)
    return path
  }

  mutating func end(_ list: SearchListUse) {
    useCount -= 1
    guard useCount == 0 else { return }
    self.list = list
    path = nil
  }

  /// Whether the key is neither in use nor waited for.
  var isIdle: Bool { useCount == 0 && mark == nil }
}

/// Keeps an observed key in use.
final class ObservedKeyUse: Sendable {
  let key: ObservedKey
  /// The entry retains the path as long as this object exists, and must be the last to do so.
  unowned let path: ObservedKey.ReadPath
  private let keys: ObservedKeys
  private let list: SearchListUse

  init(_ key: ObservedKey, _ path: ObservedKey.ReadPath, _ keys: ObservedKeys, _ list: SearchListUse) {
    self.key = key
    self.path = path
    self.keys = keys
    self.list = list
  }

  deinit { keys.end(key, list) }
}
