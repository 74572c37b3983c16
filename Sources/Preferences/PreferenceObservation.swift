internal import Synchronization

/// Keeps an observation alive. Thread-safe.
public final class PreferenceObservation: Sendable {
  private let end: Mutex<(@Sendable () -> Void)?>

  package init(end: @escaping @Sendable () -> Void) { self.end = Mutex(end) }

  deinit { cancel() }

  /// The handler may run once more where a change is being delivered at this moment.
  public func cancel() {
    let end = end.withLock { end in
      defer { end = nil }
      return end
    }
    end?()
  }
}

/// Those who want to know of changes. Handlers run outside of the lock, in the order in which they came.
package final class PreferenceObservers: Sendable {
  private struct State {
    var next = 0
    var handlers: [(id: Int, handler: @Sendable (PreferenceChange) -> Void)] = []
  }

  private let state = Mutex(State())

  package init() {}

  package var isEmpty: Bool { state.withLock { $0.handlers.isEmpty } }

  package func add(_ handler: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    let id = state.withLock { state in
      state.next += 1
      state.handlers.append((state.next, handler))
      return state.next
    }
    return PreferenceObservation { [weak self] in
      self?.state.withLock { state in state.handlers.removeAll { $0.id == id } }
    }
  }

  package func notify(_ change: PreferenceChange) {
    for entry in state.withLock({ $0.handlers }) { entry.handler(change) }
  }
}
