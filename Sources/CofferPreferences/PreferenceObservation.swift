internal import Synchronization

/// An observation, which ends when this object is deallocated. Thread-safe.
public final class PreferenceObservation: Sendable {
  private let end: Mutex<(@Sendable () -> Void)?>

  package init(end: @escaping @Sendable () -> Void) { self.end = Mutex(end) }

  deinit { cancel() }

  /// Ends the observation. The handler may run once more if a change is being delivered at this moment.
  public func cancel() {
    let end = end.withLock { end in
      defer { end = nil }
      return end
    }
    end?()
  }
}

/// The observers of one domain.
///
/// A domain calls `note` for each change under its own lock, so that all observers receive changes in the order in which they
/// were made, and a value that is read under that lock has a definite position among them. It calls `tell` afterwards, outside of
/// the lock.
package final class PreferenceObservers: Sendable {
  private struct Observer: Sendable {
    let id: Int
    let note: @Sendable (PreferenceChange) -> Void
    let tell: @Sendable (PreferenceChange.Origin, [String]) -> Void
  }

  private struct State {
    var next = 0
    var observers: [Observer] = []
  }

  private let state = Mutex(State())

  package init() {}

  package var isEmpty: Bool { state.withLock { $0.observers.isEmpty } }

  package func add(
    note: @escaping @Sendable (PreferenceChange) -> Void,
    tell: @escaping @Sendable (PreferenceChange.Origin, [String]) -> Void
  ) -> PreferenceObservation {
    let id = state.withLock { state in
      state.next += 1
      state.observers.append(Observer(id: state.next, note: note, tell: tell))
      return state.next
    }
    return PreferenceObservation { [weak self] in
      self?.state.withLock { state in state.observers.removeAll { $0.id == id } }
    }
  }

  /// Called under the lock of the domain.
  package func note(_ origin: PreferenceChange.Origin, _ keys: [PreferenceChange.Key]) {
    guard !keys.isEmpty else { return }
    let change = PreferenceChange(origin: origin, keys: keys)
    for observer in state.withLock({ $0.observers }) { observer.note(change) }
  }

  /// Called after `note`, outside of all locks.
  package func tell(_ origin: PreferenceChange.Origin, _ keys: [String]) {
    guard !keys.isEmpty else { return }
    for observer in state.withLock({ $0.observers }) { observer.tell(origin, keys) }
  }
}
