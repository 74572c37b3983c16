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
  }

  let notifier: EventNotifier
  private let state = Mutex(State())

  init(_ notifier: EventNotifier) { self.notifier = notifier }

  /// - Parameter call: `Call.number`.
  package func reply(to call: UInt64, _ result: Result<[Value], BusError>, after milliseconds: UInt64 = 0) {
    put(.reply(call, result), after: milliseconds)
  }

  package func send(_ signal: Signal, after milliseconds: UInt64 = 0) { put(.signal(signal), after: milliseconds) }

  /// The milliseconds until a message is due; nil if none waits.
  var milliseconds: Int32? {
    let now = Deadline.now()
    return state.withLock { $0.later.map(\.due).min() }.map { due in
      due > now ? Int32(clamping: (due - now) / 1_000_000 + 1) : 0
    }
  }

  /// Lets `Bus.run` return.
  package func end() { put(.end, after: 0) }

  private func put(_ entry: Entry, after milliseconds: UInt64) {
    state.withLock { state in
      if milliseconds == 0 {
        state.entries.append(entry)
      } else {
        state.later.append((Deadline.now() + milliseconds * 1_000_000, entry))
      }
    }
    notifier.call()
  }

  func take() -> [Entry] {
    notifier.clear()
    let now = Deadline.now()
    return state.withLock { state in
      defer {
        state.entries = []
        state.later.removeAll { $0.due <= now }
      }
      return state.entries + state.later.filter { $0.due <= now }.map(\.entry)
    }
  }
}
