internal import Glibc
internal import Synchronization

/// A queue of events that are handled one after another, each once, in the order in which they were noted.
///
/// One thread at a time delivers, including the events that other threads have noted meanwhile. An event that the handler itself
/// notes is handled before the handler's own call of `deliver` returns. The queue is unbounded.
final class OrderedDelivery<Event: Sendable>: Sendable {
  private struct State {
    var events: [Event] = []
    /// The index of the first event not handled yet.
    var first = 0
    var isStarted = false
    var isEnded = false
    var worker: pthread_t?

    mutating func next() -> Event? {
      guard first < events.count, !isEnded else {
        events.removeAll(keepingCapacity: events.count < 1 << 10)
        first = 0
        return nil
      }
      defer { first += 1 }
      // Remove handled events now and then, because a busy queue may never become empty.
      if first == 1 << 10 {
        events.removeFirst(first)
        first = 0
      }
      return events[first]
    }
  }

  private let state = Mutex(State())

  /// Takes no other lock, so it may be called under any lock.
  func note(_ event: Event) { state.withLock { if !$0.isEnded { $0.events.append(event) } } }

  /// Replaces the waiting events with the filtered ones.
  func filter(_ body: ([Event]) -> [Event]) {
    state.withLock { state in
      state.events = body(Array(state.events[state.first...]))
      state.first = 0
    }
  }

  /// Begins delivery; no event is handled earlier.
  /// - Parameter body: Runs before the first `handle`. No other thread runs `handle` meanwhile.
  func start(_ body: () -> Void, _ handle: (Event) -> Void) {
    let thread = pthread_self()
    state.withLock { state in
      state.isStarted = true
      state.worker = thread
    }
    body()
    work(isOutermost: true, handle)
  }

  /// - Parameter handle: The same for all calls. Runs outside of all locks, never on two threads at a time.
  func deliver(_ handle: (Event) -> Void) {
    let thread = pthread_self()
    let isOutermost = state.withLock { state -> Bool? in
      guard state.isStarted, state.worker == nil || state.worker == thread else { return nil }
      defer { state.worker = thread }
      return state.worker == nil
    }
    if let isOutermost { work(isOutermost: isOutermost, handle) }
  }

  /// No event is handled after the one that is being handled at this moment.
  func end() { state.withLock { $0.isEnded = true } }

  private func work(isOutermost: Bool, _ handle: (Event) -> Void) {
    while let event = state.withLock({ state in
      let event = state.next()
      if event == nil, isOutermost { state.worker = nil }
      return event
    }) {
      handle(event)
    }
  }
}
