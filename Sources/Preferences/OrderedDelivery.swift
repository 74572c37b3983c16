internal import Glibc
internal import Synchronization

/// Events that are handled one after another, each once, in the order in which they were noted, by whichever thread delivers.
///
/// One thread at a time delivers, for all others that have noted something meanwhile; what it notes itself while it handles an event is
/// handled before its own call of `deliver` returns. Events wait without a limit.
final class OrderedDelivery<Event: Sendable>: Sendable {
  private struct State {
    var events: [Event] = []
    /// Before it, events were handled.
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
      // A thread that never comes to the end must not keep what it has handled.
      if first == 1 << 10 {
        events.removeFirst(first)
        first = 0
      }
      return events[first]
    }
  }

  private let state = Mutex(State())

  /// Takes no other lock, so that it can be called under any.
  func note(_ event: Event) { state.withLock { if !$0.isEnded { $0.events.append(event) } } }

  /// Drops the events that wait and are not wanted.
  func filter(_ body: ([Event]) -> [Event]) {
    state.withLock { state in
      state.events = body(Array(state.events[state.first...]))
      state.first = 0
    }
  }

  /// No event is handled before.
  /// - Parameter body: Runs before `handle`, which other threads do not run meanwhile.
  func start(_ body: () -> Void, _ handle: (Event) -> Void) {
    let thread = pthread_self()
    state.withLock { state in
      state.isStarted = true
      state.worker = thread
    }
    body()
    work(isOutermost: true, handle)
  }

  /// - Parameter handle: The same for all calls. Runs under no lock, never on two threads at a time.
  func deliver(_ handle: (Event) -> Void) {
    let thread = pthread_self()
    let isOutermost = state.withLock { state -> Bool? in
      guard state.isStarted, state.worker == nil || state.worker == thread else { return nil }
      defer { state.worker = thread }
      return state.worker == nil
    }
    if let isOutermost { work(isOutermost: isOutermost, handle) }
  }

  /// An event that is being handled at this moment is the last one.
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
