import PropertyLists
import Synchronization

/// Compares what a search finds with what it found before, and tells of the difference.
///
/// One thread at a time compares and tells, for all others that have changed something meanwhile. So changes are told one after
/// another, the last values that the handler hears of are those that are in force, and no lock is held while a domain is asked or the
/// handler runs.
final class ValueObservation: Sendable {
  private struct State {
    /// Whether a thread is at it. At first the one that starts.
    var isWorking = true
    var isEnded = false
    /// To be compared next.
    var keys = Set<PropertyListDictionary.Key>()
    var origin = PreferenceChange.Origin.otherProcess
    /// What the handler knows. Only the thread that is at it looks here.
    var known = PropertyListDictionary()
  }

  /// Nil observes all keys.
  let key: PropertyListDictionary.Key?
  private let handler: @Sendable (PreferenceChange) -> Void
  private let state = Mutex(State())

  init(_ key: String?, _ handler: @escaping @Sendable (PreferenceChange) -> Void) {
    self.key = key.map { .init($0) }
    self.handler = handler
  }

  /// Takes what is found now as known. To be called once, when `refresh` may come already.
  /// - Parameter tell: Gets what is known, before the handler gets anything.
  func start(in list: SearchCore, _ tell: (PropertyListDictionary) -> Void) {
    var known = PropertyListDictionary()
    if let key {
      known[key.name] = list.structure.search(key.name)
    } else {
      known = list.structure.values()
    }
    state.withLock { $0.known = known }
    tell(known)
    work(list)
  }

  /// Some entry of the list holds other values of these keys. To be called only where it observes one of them.
  func refresh(_ keys: [PropertyListDictionary.Key], _ origin: PreferenceChange.Origin, in list: SearchCore) {
    let isFree = state.withLock { state in
      if let key {
        state.keys.insert(key)
      } else {
        state.keys.formUnion(keys)
      }
      // Of changes that are told as one, those of this process count.
      if origin == .thisProcess { state.origin = origin }
      defer { state.isWorking = true }
      return !state.isWorking
    }
    if isFree { work(list) }
  }

  func end() { state.withLock { $0.isEnded = true } }

  private func work(_ list: SearchCore) {
    while let (keys, origin) = next() {
      let structure = list.structure
      let found = keys.sorted().map { ($0.name, structure.search($0.name)) }
      let change = state.withLock { state -> PreferenceChange? in
        var changed: [PreferenceChange.Key] = []
        for (name, new) in found where state.known[name] != new {
          changed.append(PreferenceChange.Key(name, old: state.known[name], new: new))
          state.known[name] = new
        }
        return changed.isEmpty || state.isEnded ? nil : PreferenceChange(origin: origin, keys: changed)
      }
      if let change { handler(change) }
    }
  }

  private func next() -> (Set<PropertyListDictionary.Key>, PreferenceChange.Origin)? {
    state.withLock { state in
      guard !state.keys.isEmpty, !state.isEnded else {
        state.isWorking = false
        return nil
      }
      defer {
        state.keys = []
        state.origin = .otherProcess
      }
      return (state.keys, state.origin)
    }
  }
}
