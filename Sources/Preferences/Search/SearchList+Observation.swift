public import PropertyLists

/// Some entry of a search list holds other values than before, or the list has other entries.
public struct SearchListChange: Sendable {
  public let origin: PreferenceChange.Origin
  /// Those whose value has changed in an entry. An entry above it may hide that.
  public let keys: [String]

  package init(origin: PreferenceChange.Origin, keys: [String]) {
    self.origin = origin
    self.keys = keys
  }
}

extension SearchList {
  /// Calls `handler` with the value that a search finds after each change of it, whichever entry has changed. A change that an entry
  /// above hides is none. The handler runs outside of all locks, never twice at a time, on a thread that makes a change, or for one of
  /// another process on that of the `ChangeWatch`; it may change settings. Two changes at the same moment may come as one.
  /// - Parameter initial: Gets the present value, before the call returns and before `handler` gets anything.
  /// - Returns: The observation ends when this object goes. It keeps the list.
  public func observe(
    _ key: String, initial: (PropertyListValue?) -> Void = { _ in },
    _ handler: @escaping @Sendable (PreferenceChange) -> Void
  ) -> PreferenceObservation {
    observe(ValueObservation(key, handler)) { initial($0[key]) }
  }

  /// As `observe(_:_:)`, for all keys. Keeps a copy of all values.
  public func observeValues(_ handler: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    observe(ValueObservation(nil, handler)) { _ in }
  }

  /// Calls `handler` after each change of an entry, hidden or not, and of the list itself: on the thread that made the change, which
  /// may be several at a time.
  public func observeChanges(_ handler: @escaping @Sendable (SearchListChange) -> Void) -> PreferenceObservation {
    let id = observations.add(handler)
    observations.follow(self)
    // Not kept by what may be the list's own user.
    return PreferenceObservation { [weak self] in self?.stop(id) }
  }

  private func observe(
    _ observation: ValueObservation, _ tell: (PropertyListDictionary) -> Void
  ) -> PreferenceObservation {
    // First the domains, then what is known: a change between the two is found when it is told.
    let id = observations.add(observation)
    observations.follow(self)
    observation.start(in: self, tell)
    return PreferenceObservation { [self] in
      observation.end()
      stop(id)
    }
  }

  private func stop(_ id: Int) {
    observations.remove(id)
    observations.follow(self)
  }

  func structureChanged(from old: SearchStructure, to new: SearchStructure) {
    observations.follow(self)
    func domains(_ structure: SearchStructure) -> [ObjectIdentifier: any PreferenceDomain] {
      Dictionary(structure.entries.map { (ObjectIdentifier($0.domain), $0.domain) }) { first, _ in first }
    }
    let (before, after) = (domains(old), domains(new))
    var values = PropertyListDictionary()
    for (id, domain) in before where after[id] == nil { values.merge(domain.values()) }
    for (id, domain) in after where before[id] == nil { values.merge(domain.values()) }
    observations.deliver(values.sorted.map(\.key), .thisProcess, of: self)
  }
}
