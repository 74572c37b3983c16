import CofferFiles
import OpenSSHAgent
import SSHAgentProtocol
import Synchronization

/// The connections of this moment. A new one is always let in: the one that has been idle the longest has to go for it, since a program
/// may keep connections that it does not use.
final class Clients: Sendable {
  private struct Entry {
    let connection: AgentConnection
    /// When it began to wait for a request; nil while one is carried out.
    var idleSince: UInt64?
    var isLeaving = false
  }

  private struct State {
    var entries: [UInt64: Entry] = [:]
    var last: UInt64 = 0
  }

  private let state = Mutex(State())

  /// The place of a connection.
  final class Place: Sendable {
    private let clients: Clients
    private let number: UInt64

    fileprivate init(_ clients: Clients, _ number: UInt64) { (self.clients, self.number) = (clients, number) }

    /// Whether a request is carried out from now on.
    func setBusy(_ isBusy: Bool) {
      clients.state.withLock { $0.entries[number]?.idleSince = isBusy ? nil : Deadline.now() }
    }

    /// Before the descriptor is closed: its number may be given to the next one at once.
    func leave() { clients.state.withLock { $0.entries[number] = nil } }
  }

  /// Returns nil if all are busy.
  func admit(_ connection: AgentConnection) -> Place? {
    state.withLock { state in
      if state.entries.count(where: { !$0.value.isLeaving }) >= AgentLimits.clients {
        let idle = state.entries.filter { !$0.value.isLeaving && $0.value.idleSince != nil }
        guard let oldest = idle.min(by: { $0.value.idleSince ?? 0 < $1.value.idleSince ?? 0 }) else { return nil }
        state.entries[oldest.key]?.isLeaving = true
        oldest.value.connection.shutDown()
      }
      state.last += 1
      state.entries[state.last] = Entry(connection: connection, idleSince: Deadline.now())
      return Place(self, state.last)
    }
  }

  func end() { state.withLock { for entry in $0.entries.values { entry.connection.shutDown() } } }
}
