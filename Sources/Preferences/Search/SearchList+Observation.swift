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
  /// Calls `handler` with each change of the value that a search finds, whichever entry has changed, one by one and in their order, with
  /// the values before and after it. A change that an entry above hides is none. Each commit of another process is a change of its own,
  /// with the exceptions that `PreferenceDomain.observe(note:tell:)` names. The handler runs under no lock, never on two threads at a time, on a
  /// thread that makes a change or that of the `ChangeWatch`. It may change settings; what it changes of this key is told before the call
  /// that changes it returns.
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
  /// - Returns: The observation ends when this object goes, or the list.
  public func observeChanges(_ handler: @escaping @Sendable (SearchListChange) -> Void) -> PreferenceObservation {
    let id = core.observations.add(handler)
    core.observations.follow(core)
    return PreferenceObservation { [core] in core.stop(id, of: nil) }
  }

  private func observe(
    _ observation: ValueObservation, _ tell: (PropertyListDictionary) -> Void
  ) -> PreferenceObservation {
    // First the domains, then what is known: a change between the two is found when it is told.
    let id = core.observations.add(observation)
    core.observations.follow(core)
    observation.start(in: core, tell)
    return PreferenceObservation { [self] in
      observation.end()
      core.stop(id, of: observation.key)
    }
  }
}

extension SearchCore {
  fileprivate func stop(_ id: Int, of key: PropertyListDictionary.Key?) {
    observations.remove(id, of: key)
    observations.follow(self)
  }
}
