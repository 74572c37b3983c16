internal import CofferPreferences
internal import Dispatch
internal import SyncedSettings
internal import Synchronization

/// Tells a program of the changes by other devices: from its first `synchronize()` on, first of all that came until then. It tells one
/// after the other on a queue of its own: no call of the program waits for its observers.
final class SyncedDelivery: Sendable {
  private struct State {
    var isStarted = false
    /// The number of the last event that was told.
    var last: Int64
    var tell: (@Sendable (SyncedReason, [String]) -> Void)?
    var observation: PreferenceObservation?
  }

  let store: SyncedStore
  private let state: Mutex<State>
  private let queue = DispatchQueue(label: "coffer.preferences.synchronised")

  init(_ store: SyncedStore) {
    self.store = store
    // Another process of the app may see later events, before this one is told of any.
    state = Mutex(State(last: store.seen))
  }

  /// - Parameter tell: Called with each reason and its keys, outside of all locks, on the queue.
  func begin(_ tell: @escaping @Sendable (SyncedReason, [String]) -> Void) {
    let observation = store.observeEvents { [weak self] event in self?.deliver(event) }
    state.withLock { state in
      state.tell = tell
      state.observation = observation
    }
  }

  /// Tells once of all events that came until now.
  func start() {
    let events = state.withLock { state -> [SyncedEvent] in
      guard !state.isStarted else { return [] }
      state.isStarted = true
      let events = store.events(after: state.last)
      state.last = events.last?.sequence ?? state.last
      return events
    }
    queue.async { [self] in tell(events) }
  }

  private func deliver(_ event: SyncedEvent) {
    let isNew = state.withLock { state in
      guard state.isStarted, event.sequence > state.last else { return false }
      state.last = event.sequence
      return true
    }
    if isNew { queue.async { [self] in tell([event]) } }
  }

  /// A value of this process was refused, before it was in the store.
  func refuse(_ key: String) { queue.async { [self] in say(.quotaViolation, [key]) } }

  private func say(_ reason: SyncedReason, _ keys: [String]) { state.withLock { $0.tell }?(reason, keys) }

  private func tell(_ events: [SyncedEvent]) {
    guard let last = events.last else { return }
    // A program learns of values that were refused, whatever came with them.
    for events in [events.filter { !$0.isRefusal }, events.filter(\.isRefusal)] {
      guard let reason = SyncedReason.weightiest(of: events.map(\.reason)) else { continue }
      let keys = store.changedKeys(in: events)
      if !keys.isEmpty || reason == .initialSync || reason == .accountChange { say(reason, keys) }
    }
    // Afterwards: a program that is killed meanwhile is told again, rather than never.
    try? store.noteSeen(last.sequence)
  }
}
