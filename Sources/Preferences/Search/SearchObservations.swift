import PropertyLists
import Synchronization

/// Who wants to know of the changes of one search list, and the list's own observations of its domains: none until somebody asks.
final class SearchObservations: Sendable {
  private struct State {
    var next = 0
    /// By the key that they observe, so that a change of one key costs nothing for those of others.
    var values: [PropertyListDictionary.Key: [ValueEntry]] = [:]
    /// Those of all keys.
    var allValues: [ValueEntry] = []
    var changes: [(id: Int, handler: @Sendable (SearchListChange) -> Void)] = []
    /// By the identity of the domain.
    var domains: [ObjectIdentifier: PreferenceObservation] = [:]

    var isEmpty: Bool { values.isEmpty && allValues.isEmpty && changes.isEmpty }

    /// Who is concerned, in the order in which they came.
    func concerned(by keys: [PropertyListDictionary.Key]) -> [ValueEntry] {
      // An observation of one key is concerned once, however often the key is named.
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

  /// - Parameter key: Of the observation. Nil where it is of all keys, or of the list.
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

  /// Observes exactly the domains that the list has now.
  func follow(_ list: SearchCore) {
    // What is not needed any more ends outside of the lock.
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

  /// The list has gone. Until then its domains and its core keep each other.
  func end() {
    let domains = state.withLock { state in
      defer { state = State() }
      return state.domains
    }
    for observation in domains.values { observation.cancel() }
  }

  /// Under the lock of the domain: what each observation concerned has to tell is put behind what came before.
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

  /// The list has other entries.
  /// - Parameter keys: Whose value may be another one by that.
  func edited(_ structure: SearchStructure, _ keys: [String]) {
    let entries = state.withLock { state in
      (state.values.values.joined() + state.allValues).sorted { $0.id < $1.id }
    }
    for entry in entries { entry.observation.note(.structure(structure)) }
    for entry in entries { entry.observation.deliver() }
    tell(.thisProcess, keys)
  }
}
