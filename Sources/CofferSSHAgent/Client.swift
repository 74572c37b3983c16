import OpenSSHAgent
import SSHAgentProtocol
import SecretMemory

/// One connection of a client, with one to OpenSSH's agent: so what a connection is bound to stays its own.
struct Client {
  private let connection: AgentConnection
  private let place: Clients.Place
  private let shared: SharedState

  init(_ connection: AgentConnection, _ place: Clients.Place, _ shared: SharedState) {
    (self.connection, self.place, self.shared) = (connection, place, shared)
  }

  /// Until the client closes, or one side breaks the protocol.
  func run() {
    do {
      var session = Session(shared, try AgentConnection(to: shared.upstream.socket))
      while let message = try connection.receive() {
        place.setBusy(true)
        try connection.send(session.answer(message))
        place.setBusy(false)
      }
    } catch AgentConnection.Failure.length(let count) {
      shared.note("a client has sent a message of \(count) bytes")
    } catch {
      shared.note("a connection has ended: \(error)")
    }
  }
}

/// The state of a connection, and the answers to its requests.
private struct Session: ~Copyable {
  private let shared: SharedState
  private let upstream: AgentConnection
  private var binds: [(bind: SessionBind, message: [UInt8])] = []

  init(_ shared: SharedState, _ upstream: AgentConnection) { (self.shared, self.upstream) = (shared, upstream) }

  mutating func answer(_ message: borrowing Secret) throws -> [UInt8] {
    let number = message.byte(at: 0)
    // A message that may have secrets stays in locked memory.
    let bytes = Handling.isPublic(number) ? message.copyIntoUnprotectedBytes() : [number]
    switch Handling(bytes, isLocked: shared.lock.isLocked, isInVault: { shared.keys.name(of: $0) != nil }) {
    case .pass: return try upstream.answer(to: message)
    case .refuse: return [MessageNumber.failure]
    case .list:
      guard var answer = IdentitiesAnswer(parsing: try upstream.answer(to: message)) else { return [MessageNumber.failure] }
      answer.add(shared.keys.identities)
      return answer.message
    case .bind(let bind):
      let answer = try upstream.answer(to: message)
      if answer == [MessageNumber.success], binds.count < AgentLimits.sessionBinds { binds.append((bind, bytes)) }
      return answer
    case .lock, .unlock:
      guard Handling.hasPassphrase(message) else { return [MessageNumber.failure] }
      return try shared.lock.change(to: number == MessageNumber.lock) { try upstream.answer(to: message) }
    case .sign(let request): return sign(request)
    }
  }

  /// A request that fails costs no connection.
  private func sign(_ request: SignRequest) -> [UInt8] {
    do {
      return try shared.sign(request, binds.map(\.bind), binds.map(\.message))
    } catch {
      shared.note("no signature: \(error)")
      return [MessageNumber.failure]
    }
  }
}
