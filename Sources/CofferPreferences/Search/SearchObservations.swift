import CofferPropertyLists
import Synchronization

/// The observers of one search list, and the list's own observations of its domains, which exist only while there are observers.
final class SearchObservations: Sendable {
  private struct State {
    var next = 0
    /// By observed key, so that a change of one key costs nothing for observers of others.
    var values: [PropertyListDictionary.Key: [ValueEntry]] = [:]
    /// The observers of all keys.
    var allValues: [ValueEntry] = []
    var changes: [(id: Int, handler: @Sendable (SearchListChange) -> Void)] = []
    /// By the identity of the domain.
    var domains: [ObjectIdentifier: PreferenceObservation] = [:]

    var isEmpty: Bool { values.isEmpty && allValues.isEmpty && changes.isEmpty }

    /// The observers of the keys, in the order in which they were added.
    func concerned(by keys: [PropertyListDictionary.Key]) -> [ValueEntry] {
      // Each observer once, even if the change names its key several times.
      let found = keys.count == 1 ? values[keys[0]] ?? [] : Set(keys).flatMap { values[$0] ?? [] }
      return found.isEmpty ? allValues : (found + allValues).sorted { $0.id < $1.id }
    }
  }

  private struct ValueEntry: Sendable {
    let id: Int
    let observation: ValueObservation
  }

  private let state = Mutex(State())

  func add(_ observation: ValueObservation) -> Int {
    state.withLock { state in
      state.next += 1
      let entry = ValueEntry(id: state.next, observation: observation)
      if let key = observation.key { state.values[key, default: []].append(entry) } else { state.allValues.append(entry) }
      return entry.id
    }
  }

  func add(_ handler: @escaping @Sendable (SearchListChange) -> Void) -> Int {
    state.withLock { state in
      state.next += 1
      state.changes.append((state.next, handler))
      return state.next
    }
  }

  /// - Parameter key: The key of the observation. nil if it observes all keys, or the list.
  func remove(_ id: Int, of key: PropertyListDictionary.Key?) {
    state.withLock { state in
      guard let key else {
        state.allValues.removeAll { $0.id == id }
        state.changes.removeAll { $0.id == id }
        return
      }
      state.values[key]?.removeAll { $0.id == id }
      if state.values[key]?.isEmpty == true { state.values[key] = nil }
    }
  }

  /// Observes exactly the present domains of the list.
  func follow(_ list: SearchCore) {
    // Observations that are no longer needed end outside of the lock.
    let ended = state.withLock { state in
      let old = state.domains
      state.domains = [:]
      guard !state.isEmpty else { return old }
      for entry in list.structure.entries {
        let id = ObjectIdentifier(entry.domain)
        guard state.domains[id] == nil else { continue }
        state.domains[id] =
          old[id]
          ?? entry.domain.observe { change in
            list.observations.note(change, of: id)
          } tell: { origin, keys in
            list.observations.tell(origin, keys)
          }
      }
      return old.filter { state.domains[$0.key] == nil }
    }
    for observation in ended.values { observation.cancel() }
  }

  /// The list was deallocated. Until then, its domains and its core retain each other.
  func end() {
    let domains = state.withLock { state in
      defer { state = State() }
      return state.domains
    }
    for observation in domains.values { observation.cancel() }
  }

  /// Called under the lock of the domain: appends the change to the queue of each observation of its keys.
  private func note(_ change: PreferenceChange, of domain: ObjectIdentifier) {
    state.withLock { state in
      if !state.values.isEmpty {
        for key in change.keys {
          for entry in state.values[.init(key.name)] ?? [] {
            entry.observation.note(.change(domain, PreferenceChange(origin: change.origin, keys: [key])))
          }
        }
      }
      for entry in state.allValues { entry.observation.note(.change(domain, change)) }
    }
  }

  private func tell(_ origin: PreferenceChange.Origin, _ keys: [String]) {
    let (observesValues, changes) = state.withLock { (!$0.values.isEmpty || !$0.allValues.isEmpty, $0.changes) }
    if observesValues {
      let keys = keys.map { PropertyListDictionary.Key($0) }
      for entry in state.withLock({ $0.concerned(by: keys) }) { entry.observation.deliver() }
    }
    guard !changes.isEmpty else { return }
    let change = SearchListChange(origin: origin, keys: keys)
    for entry in changes { entry.handler(change) }
  }

  /// The entries of the list have changed.
  /// - Parameter keys: The keys whose value may have changed by that.
  func edited(_ structure: SearchStructure, _ keys: [String]) {
    let entries = state.withLock { state in
      (state.values.values.joined() + state.allValues).sorted { $0.id < $1.id }
    }
    for entry in entries { entry.observation.note(.structure(structure)) }
    for entry in entries { entry.observation.deliver() }
    tell(.thisProcess, keys)
  }
}
