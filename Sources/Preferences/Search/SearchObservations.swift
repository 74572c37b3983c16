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
  func follow(_ list: SearchCore) {
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
          ?? entry.domain.observe { change in
            list.observations.deliver(change.keys.map(\.name), change.origin, of: list)
          }
      }
      return old.filter { state.domains[$0.key] == nil }
    }
    for observation in ended.values { observation.cancel() }
  }

  /// The list has gone. Until then its domains and its core keep each other.
  func end() {
    let domains = state.withLock { state in
      defer { state = State() }
      return state.domains
    }
    for observation in domains.values { observation.cancel() }
  }

  func deliver(_ keys: [String], _ origin: PreferenceChange.Origin, of list: SearchCore) {
    let (values, changes) = state.withLock { ($0.values, $0.changes) }
    for entry in values { entry.observation.refresh(keys, origin, in: list) }
    guard !changes.isEmpty else { return }
    let change = SearchListChange(origin: origin, keys: keys)
    for entry in changes { entry.handler(change) }
  }
}
