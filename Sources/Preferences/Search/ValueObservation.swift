import PropertyLists
import Synchronization

/// Works out what a search finds from the changes of the domains, in their order, and tells of each time that it is another value.
///
/// It keeps what each domain holds, as far as the changes up to now say so, and asks a domain once. So a change is told with the values
/// that were in force at that moment, though there may have been others since.
final class ValueObservation: Sendable {
  enum Event: Sendable {
    case change(ObjectIdentifier, PreferenceChange)
    /// The list has other entries.
    case structure(SearchStructure)
  }

  private struct Known {
    /// Keeps the domains, whose identities would be given to others otherwise.
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
      // Of a domain that is not in the list any more, or not yet: then it is asked when it is.
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

  /// Nil observes all keys.
  let key: PropertyListDictionary.Key?
  private let handler: @Sendable (PreferenceChange) -> Void
  /// Only the thread that delivers looks here.
  private let known = Mutex(Known())
  private let queue = OrderedDelivery<Event>()

  init(_ key: String?, _ handler: @escaping @Sendable (PreferenceChange) -> Void) {
    self.key = key.map { .init($0) }
    self.handler = handler
  }

  /// Takes what is found now as known. To be called once, when `note` may be called already.
  /// - Parameter tell: Gets what is known, before the handler gets anything.
  func start(in list: SearchCore, _ tell: (PropertyListDictionary) -> Void) {
    _ = follow(list.structure)
    queue.start {
      tell(known.withLock { $0.all })
    } _: {
      handle($0)
    }
  }

  /// Under the lock of the domain, for a change. To be called only where it observes one of the keys.
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

  /// - Returns: The keys for which the search finds another value now.
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

  /// What the domain holds now. The changes that this has in it already are not waiting any more.
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

  /// After how many changes of the domain it held these values. If it did so several times, after the first of them: to tell of more is
  /// as true.
  private static func count(of events: [Event], in values: PropertyListDictionary, _ domain: ObjectIdentifier) -> Int {
    let changes = events.compactMap { event in
      if case .change(domain, let change) = event { change.keys } else { nil }
    }
    // Before the first of them.
    var state: [PropertyListDictionary.Key: PropertyListValue?] = [:]
    for change in changes.joined().reversed() { state[.init(change.name)] = .some(change.old) }
    for (count, keys) in ([[]] + changes).enumerated() {
      for change in keys { state[.init(change.name)] = .some(change.new) }
      if state.allSatisfy({ values[$0.key] == $0.value }) { return count }
    }
    return 0
  }
}
