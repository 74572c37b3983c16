import CLinux
import CofferFiles
import Glibc
import OpenSSHAgent
import SSHAgentProtocol

/// Accepts connections, and gives each a thread, so that no client delays another.
final class Server {
  private let socket: ListeningSocket
  private let signals: EndSignals
  private let shared: SharedState
  private let clients = Clients()

  /// Starts OpenSSH's agent.
  /// - Throws: `PrivateAgent.Failure`.
  init(on socket: ListeningSocket, _ signals: consuming EndSignals, options: [String], isDebugging: Bool) throws {
    self.socket = socket
    self.signals = signals
    shared = try SharedState(upstream: PrivateAgent(options: options), isDebugging: isDebugging)
  }

  /// Until a signal, the end of OpenSSH's agent, or that of a process.
  /// - Parameter process: A descriptor of the process; -1 for none.
  /// - Returns: Whether it ends as it was meant to.
  func run(until process: Int32) -> Bool {
    defer { clients.end() }
    var entries = [socket.descriptor, signals.descriptor, shared.upstream.end, process].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    while true {
      guard unsafe poll(&entries, nfds_t(entries.count), -1) > 0 else { continue }
      if entries[1].revents != 0 || entries[3].revents != 0 { return true }
      // Its keys are gone. A service manager starts another one.
      if entries[2].revents != 0 { return false }
      if entries[0].revents != 0 { accept() }
    }
  }

  private func accept() {
    guard let descriptor = OwnedDescriptor(coffer_accept(socket.descriptor)) else {
      // One that ends frees a descriptor.
      if errno == EMFILE || errno == ENFILE || errno == ENOMEM { _ = poll(nil, 0, 10) }
      return
    }
    var credentials = coffer_credentials()
    guard unsafe coffer_peer_credentials(descriptor.number, &credentials) == 0,
      credentials.user == geteuid() || credentials.user == 0
    else { return }
    let connection = AgentConnection(descriptor)
    guard let place = clients.admit(connection) else { return }
    let isStarted = DetachedThread.start("coffer-ssh-client") { [shared] in
      Client(connection, place, shared).run()
      place.leave()
    }
    if !isStarted { place.leave() }
  }
}
