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

  let notifier: EventNotifier
  private let entries = Mutex<[Entry]>([])

  init(_ notifier: EventNotifier) { self.notifier = notifier }

  /// - Parameter call: `Call.number`.
  package func reply(to call: UInt64, _ result: Result<[Value], BusError>) { put(.reply(call, result)) }

  package func send(_ signal: Signal) { put(.signal(signal)) }

  /// Lets `Bus.run` return.
  package func end() { put(.end) }

  private func put(_ entry: Entry) {
    entries.withLock { $0.append(entry) }
    notifier.call()
  }

  func take() -> [Entry] {
    notifier.clear()
    return entries.withLock { entries in
      defer { entries = [] }
      return entries
    }
  }
}
