public import CofferPropertyLists

/// A change of the values of an entry, or of the entries of a search list.
public struct SearchListChange: Sendable {
  /// The process that has made the change.
  public let origin: PreferenceChange.Origin
  /// The keys whose value has changed in an entry. A preceding entry may hide the change.
  public let keys: [String]

  package init(origin: PreferenceChange.Origin, keys: [String]) {
    self.origin = origin
    self.keys = keys
  }
}

extension SearchList {
  /// Calls `handler` with each change of the value that a search finds, whichever entry has changed, one by one and in order,
  /// with the values before and after. A change that a preceding entry hides is not reported. Each commit of another process is a
  /// change of its own, with the exceptions listed at `PreferenceDomain.observe(note:tell:)`.
  ///
  /// The handler runs outside of all locks, never on two threads at a time, on a thread that makes a change or that of the
  /// `ChangeWatch`. It may change settings; its own changes of this key are delivered to it before the changing call returns.
  /// - Parameter initial: Called with the present value, before this function returns and before the first call of `handler`.
  /// - Returns: The observation, which ends when this object is deallocated. It retains the list.
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

  /// Calls `handler` after each change of an entry, hidden or not, and of the list itself: on the thread that made the change, so
  /// possibly on several threads at a time.
  /// - Returns: The observation, which ends when this object or the list is deallocated.
  public func observeChanges(_ handler: @escaping @Sendable (SearchListChange) -> Void) -> PreferenceObservation {
    let id = core.observations.add(handler)
    core.observations.follow(core)
    return PreferenceObservation { [core] in core.stop(id, of: nil) }
  }

  private func observe(
    _ observation: ValueObservation, _ tell: (PropertyListDictionary) -> Void
  ) -> PreferenceObservation {
    // Observe the domains before reading the values, so that a change in between is not missed.
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
