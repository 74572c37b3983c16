import CofferPropertyLists
import Synchronization

/// Computes the value that a search finds from the changes of the domains, in order, and reports each change of it.
///
/// It reads each domain once and then applies that domain's changes. So a change is reported with the values of its own moment,
/// even if there have been others since.
final class ValueObservation: Sendable {
  enum Event: Sendable {
    case change(ObjectIdentifier, PreferenceChange)
    /// The entries of the list have changed.
    case structure(SearchStructure)
  }

  private struct Known {
    /// Retains the domains, because another object could reuse the identity of a deallocated one.
    var structure = SearchStructure(version: 0, entries: [])
    var values: [ObjectIdentifier: PropertyListDictionary] = [:]

    func search(_ key: PropertyListDictionary.Key) -> PropertyListValue? {
      for entry in structure.entries {
        if let value = values[ObjectIdentifier(entry.domain)]?[key] { return value }
      }
      return nil
    }

    var all: PropertyListDictionary {
      var all = PropertyListDictionary()
      for entry in structure.entries.reversed() { all.merge(values[ObjectIdentifier(entry.domain)] ?? .init()) }
      return all
    }

    /// - Returns: The keys for which the search finds another value now.
    mutating func apply(_ changes: [PreferenceChange.Key], of domain: ObjectIdentifier) -> [PreferenceChange.Key] {
      // Ignores a domain that is no longer in the list, or not yet; it is read when it is added.
      guard values[domain] != nil else { return [] }
      return changes.compactMap { change in
        let key = PropertyListDictionary.Key(change.name)
        let old = search(key)
        values[domain]?[key] = change.new
        let new = search(key)
        return old == new ? nil : PreferenceChange.Key(change.name, old: old, new: new)
      }
    }
  }

  /// nil observes all keys.
  let key: PropertyListDictionary.Key?
  private let handler: @Sendable (PreferenceChange) -> Void
  /// Used only by the thread that delivers.
  private let known = Mutex(Known())
  private let queue = OrderedDelivery<Event>()

  init(_ key: String?, _ handler: @escaping @Sendable (PreferenceChange) -> Void) {
    self.key = key.map { .init($0) }
    self.handler = handler
  }

  /// Reads the present values. Called once, after which `note` may be called.
  /// - Parameter tell: Called with the present values, before the first call of the handler.
  func start(in list: SearchCore, _ tell: (PropertyListDictionary) -> Void) {
    _ = follow(list.structure)
    queue.start {
      tell(known.withLock { $0.all })
    } _: {
      handle($0)
    }
  }

  /// Called under the lock of the domain for a change, and only if the observation covers one of its keys.
  func note(_ event: Event) { queue.note(event) }

  func deliver() { queue.deliver { handle($0) } }

  func end() { queue.end() }

  private func handle(_ event: Event) {
    let change =
      switch event {
      case .change(let domain, let change):
        PreferenceChange(origin: change.origin, keys: known.withLock { $0.apply(change.keys, of: domain) })
      case .structure(let structure): PreferenceChange(origin: .thisProcess, keys: follow(structure))
      }
    if !change.keys.isEmpty { handler(change) }
  }

  /// - Returns: The changes of the values that the search finds.
  private func follow(_ structure: SearchStructure) -> [PreferenceChange.Key] {
    let old = known.withLock { $0 }
    guard structure.version > old.structure.version || old.structure.entries.isEmpty else { return [] }
    var new = Known(structure: structure)
    for entry in structure.entries {
      let id = ObjectIdentifier(entry.domain)
      new.values[id] = old.values[id] ?? new.values[id] ?? values(of: entry.domain)
    }
    known.withLock { $0 = new }
    return PreferenceChange.difference(from: old.all, to: new.all)
  }

  /// Reads the present values of the domain, and removes from the queue the changes that they contain already.
  private func values(of domain: any PreferenceDomain) -> PropertyListDictionary {
    var values = PropertyListDictionary()
    if let key { values[key] = domain.value(forKey: key.name) } else { values = domain.values() }
    queue.filter { events in
      let count = Self.count(of: events, in: values, ObjectIdentifier(domain))
      var passed = 0
      return events.filter { event in
        guard case .change(ObjectIdentifier(domain), _) = event else { return true }
        passed += 1
        return passed > count
      }
    }
    return values
  }

  /// The number of queued changes of the domain after which it had these values. If several numbers fit, the smallest one, so
  /// that more changes are reported.
  private static func count(of events: [Event], in values: PropertyListDictionary, _ domain: ObjectIdentifier) -> Int {
    let changes = events.compactMap { event in
      if case .change(domain, let change) = event { change.keys } else { nil }
    }
    // The values before the first of the changes.
    var state: [PropertyListDictionary.Key: PropertyListValue?] = [:]
    for change in changes.joined().reversed() { state[.init(change.name)] = .some(change.old) }
    for (count, keys) in ([[]] + changes).enumerated() {
      for change in keys { state[.init(change.name)] = .some(change.new) }
      if state.allSatisfy({ values[$0.key] == $0.value }) { return count }
    }
    return 0
  }
}
