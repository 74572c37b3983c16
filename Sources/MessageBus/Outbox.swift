import CofferFiles
import Synchronization

/// Messages of other threads, which the thread of the bus sends.
package final class Outbox: Sendable {
  package struct Signal: Sendable {
    package let path: String
    package let interface: String
    package let member: String
    package let body: [Value]
    /// nil: all who listen.
    package let destination: String?

    package init(_ path: String, _ interface: String, _ member: String, _ body: [Value], to destination: String? = nil) {
      (self.path, self.interface, self.member, self.body, self.destination) = (path, interface, member, body, destination)
    }
  }

  enum Entry: Sendable {
    case reply(UInt64, Result<[Value], BusError>)
    case signal(Signal)
    case end
  }

  private struct State {
    var entries: [Entry] = []
    /// Each with its time, in nanoseconds of `Deadline`.
    var later: [(due: UInt64, entry: Entry)] = []
    /// Whether the thread of the bus sleeps until it is called.
    var isAwaited = false
  }

  let notifier: EventNotifier
  private let state = Mutex(State())

  init(_ notifier: EventNotifier) { self.notifier = notifier }

  /// - Parameter call: `Call.number`.
  package func reply(to call: UInt64, _ result: Result<[Value], BusError>, after milliseconds: UInt64 = 0) {
    put(.reply(call, result), after: milliseconds)
  }

  package func send(_ signal: Signal, after milliseconds: UInt64 = 0) { put(.signal(signal), after: milliseconds) }

  /// From now on until `endWait` each message calls the notifier.
  /// - Returns: The milliseconds until a message is due; nil if none waits.
  func beginWait() -> Int32? {
    state.withLock { state in
      state.isAwaited = true
      guard state.entries.isEmpty else { return 0 }
      guard let due = state.later.map(\.due).min() else { return nil }
      let now = Deadline.now()
      return due > now ? Int32(clamping: (due - now) / 1_000_000 + 1) : 0
    }
  }

  func endWait() { state.withLock { $0.isAwaited = false } }

  /// Lets `Bus.run` return.
  package func end() { put(.end, after: 0) }

  private func put(_ entry: Entry, after milliseconds: UInt64) {
    let isAwaited = state.withLock { state in
      if milliseconds == 0 {
        state.entries.append(entry)
      } else {
        state.later.append((Deadline.now() + milliseconds * 1_000_000, entry))
      }
      return state.isAwaited
    }
    if isAwaited { notifier.call() }
  }

  func take() -> [Entry] {
    state.withLock { state in
      var taken: [Entry] = []
      swap(&taken, &state.entries)
      guard !state.later.isEmpty else { return taken }
      let now = Deadline.now()
      defer { state.later.removeAll { $0.due <= now } }
      return taken + state.later.filter { $0.due <= now }.map(\.entry)
    }
  }
}
