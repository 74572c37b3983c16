import PropertyLists
import Synchronization

/// Who wants to know of the changes of one search list, and the list's own observations of its domains: none until somebody asks.
final class SearchObservations: Sendable {
  private struct State {
    var next = 0
    var values: [(id: Int, observation: ValueObservation)] = []
    var changes: [(id: Int, handler: @Sendable (SearchListChange) -> Void)] = []
    /// By the identity of the domain.
    var domains: [ObjectIdentifier: PreferenceObservation] = [:]
  }

  private let state = Mutex(State())

  func add(_ observation: ValueObservation) -> Int {
    state.withLock { state in
      state.next += 1
      state.values.append((state.next, observation))
      return state.next
    }
  }

  func add(_ handler: @escaping @Sendable (SearchListChange) -> Void) -> Int {
    state.withLock { state in
      state.next += 1
      state.changes.append((state.next, handler))
      return state.next
    }
  }

  func remove(_ id: Int) {
    state.withLock { state in
      state.values.removeAll { $0.id == id }
      state.changes.removeAll { $0.id == id }
    }
  }

  /// Observes exactly the domains that the list has now.
  func follow(_ list: SearchList) {
    // What is not needed any more ends outside of the lock.
    let ended = state.withLock { state in
      let old = state.domains
      state.domains = [:]
      guard !state.values.isEmpty || !state.changes.isEmpty else { return old }
      for entry in list.structure.entries {
        let id = ObjectIdentifier(entry.domain)
        guard state.domains[id] == nil else { continue }
        state.domains[id] =
          old[id]
          ?? entry.domain.observe { [weak list] change in
            list?.observations.deliver(change.keys.map(\.name), change.origin, of: list)
          }
      }
      return old.filter { state.domains[$0.key] == nil }
    }
    for observation in ended.values { observation.cancel() }
  }

  func deliver(_ keys: [String], _ origin: PreferenceChange.Origin, of list: SearchList?) {
    guard let list else { return }
    let (values, changes) = state.withLock { ($0.values, $0.changes) }
    for entry in values { entry.observation.refresh(keys, origin, in: list) }
    guard !changes.isEmpty else { return }
    let change = SearchListChange(origin: origin, keys: keys)
    for entry in changes { entry.handler(change) }
  }
}

/// Compares what a search finds with what it found before, and tells of the difference.
///
/// Changes of several threads are delivered one after another, by the thread that is delivering already: the last values that the
/// handler hears of are those that are in force.
final class ValueObservation: Sendable {
  private struct State {
    var known = PropertyListDictionary()
    var pending: [PreferenceChange] = []
    var isDelivering = false
  }

  /// Nil observes all keys.
  private let key: String?
  private let handler: @Sendable (PreferenceChange) -> Void
  private let state = Mutex(State())

  init(_ key: String?, _ handler: @escaping @Sendable (PreferenceChange) -> Void) {
    self.key = key
    self.handler = handler
  }

  /// Takes what is found now as known, without telling.
  func start(in list: SearchList) {
    state.withLock { state in
      if let key {
        state.known[key] = list.structure.search(key)
      } else {
        state.known = list.structure.values()
      }
    }
  }

  func refresh(_ keys: [String], _ origin: PreferenceChange.Origin, in list: SearchList) {
    if let key, !keys.contains(where: { $0.utf8.elementsEqual(key.utf8) }) { return }
    let delivers = state.withLock { state in
      // Searched under the lock: a value found before it could be older than the known one.
      let structure = list.structure
      var changed: [PreferenceChange.Key] = []
      for name in key.map({ [$0] }) ?? keys {
        let old = state.known[name]
        let new = structure.search(name)
        guard old != new else { continue }
        state.known[name] = new
        changed.append(PreferenceChange.Key(name, old: old, new: new))
      }
      guard !changed.isEmpty else { return false }
      state.pending.append(PreferenceChange(origin: origin, keys: changed))
      guard !state.isDelivering else { return false }
      state.isDelivering = true
      return true
    }
    if delivers { deliver() }
  }

  func end() { state.withLock { $0.pending = [] } }

  private func deliver() {
    while true {
      let change = state.withLock { state -> PreferenceChange? in
        state.isDelivering = !state.pending.isEmpty
        return state.pending.isEmpty ? nil : state.pending.removeFirst()
      }
      guard let change else { return }
      handler(change)
    }
  }
}
