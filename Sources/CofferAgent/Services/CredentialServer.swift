import CLinux
import CofferFiles
import CofferWire
import Glibc
import Synchronization
package import UnitCredentials

/// Gives the service manager the credentials of services while it starts them: `LoadCredential=` with the path of a socket,
/// systemd.exec(5). Each connection has a thread.
///
/// systemd starts a service with an empty credential if the connection ends without data (systemd#27373). So no connection ends so that is
/// refused, or that waits for the vault to be unlocked when the agent ends: it gets more bytes than a credential may have, which systemd
/// refuses, and does not start the service.
package final class CredentialServer: Sendable {
  private let listener: OwnedDescriptor
  private let shared: CredentialConversation.SharedState
  private let connections = Mutex((count: 0, isEnding: false))

  /// More wait until one has ended; each service has its own limit of time, TimeoutStartSec.
  private static let connectionLimit = 64
  private static let endMilliseconds: Int64 = 3000

  /// - Parameters:
  ///   - listener: The socket that the service manager has made, in a directory of root's.
  ///   - log: Logs a decision. If it throws, the credential is refused.
  /// - Returns: nil if the process has no descriptor left.
  package init?(
    _ listener: Int32, vault: AgentVault, map: CredentialMap,
    log: @escaping @Sendable (Gate.Facts, Gate.Decision, Peer) throws -> Void
  ) {
    guard let listener = OwnedDescriptor(listener), let ending = EventNotifier() else { return nil }
    self.listener = listener
    shared = CredentialConversation.SharedState(vault: vault, map: map, log: log, ending: ending)
  }

  /// Begins to serve, in a thread of its own.
  /// - Returns: Whether the system had a thread.
  package func start() -> Bool {
    DetachedThread.start("coffer-services") { [self] in
      var entries = [
        pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0),
        pollfd(fd: shared.ending.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      while true {
        _ = unsafe poll(&entries, 2, -1)
        if entries[1].revents != 0 { return }
        // Counted before it is accepted: `end` waits for it, and leaves the others to the service manager, whose socket it is.
        guard isCounted() else {
          // Too many connections, or the end: one that ends makes room.
          _ = poll(nil, 0, 10)
          continue
        }
        guard let connection = OwnedDescriptor(coffer_accept(listener.number)) else {
          uncount()
          _ = poll(nil, 0, 10)
          continue
        }
        welcome(connection)
      }
    }
  }

  /// Refuses those that wait, from any thread, and returns when they have read it, after 3 seconds at most.
  package func end() {
    connections.withLock { $0.isEnding = true }
    shared.ending.call()
    let deadline = AgentVault.clock() + Self.endMilliseconds
    while connections.withLock({ $0.count > 0 }), AgentVault.clock() < deadline { _ = poll(nil, 0, 1) }
  }

  /// The connections that are served now, and one that may be accepted at this moment.
  var connectionCount: Int { connections.withLock { $0.count } }

  private func isCounted() -> Bool {
    connections.withLock { connections in
      guard !connections.isEnding, connections.count < Self.connectionLimit else { return false }
      connections.count += 1
      return true
    }
  }

  private func uncount() { connections.withLock { $0.count -= 1 } }

  private func welcome(_ connection: consuming OwnedDescriptor) {
    let conversation = CredentialConversation(connection, shared)
    let isStarted = DetachedThread.start("coffer-service") { [self] in
      conversation.run()
      uncount()
    }
    guard !isStarted else { return }
    conversation.refuse()
    uncount()
  }
}
