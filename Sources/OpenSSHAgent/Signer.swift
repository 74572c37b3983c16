internal import Glibc
package import SSHAgentProtocol
package import SecretMemory

/// An OpenSSH ssh-agent for one signature with a key of the vault.
///
/// Its socket is removed before it has a key, so no other program can use the key; and no message of a client reaches it but the one
/// that is to be signed. It is made before it is needed, because to start one takes some milliseconds.
package final class Signer: Sendable {
  package enum Failure: Error, Equatable {
    /// Another program has connected to the agent before its socket was removed.
    case shared
    /// OpenSSH does not take the key: it is none, or of a type that it does not know.
    case keyRefused
    /// It refuses the signature, as for a key that is bound to other hosts.
    case refused
  }

  private let agent: PrivateAgent
  /// The process of the agent.
  package var process: Int32 { agent.process }
  private let connection: AgentConnection

  /// - Throws: `PrivateAgent.Failure`, `AgentConnection.Failure`, `Failure`.
  package init() throws {
    agent = try PrivateAgent()
    connection = try AgentConnection(to: agent.socket)
    agent.hide()
    guard UnixSockets.count(named: agent.socket) == 2 else { throw Failure.shared }
  }

  /// To be called once.
  /// - Parameters:
  ///   - binds: The messages by which the client has named its session, as OpenSSH's agent has accepted them.
  ///   - key: As `KeyForAdding` has it.
  /// - Returns: The answer for the client.
  /// - Throws: `AgentConnection.Failure`, `Failure`; `VaultError` of locked memory.
  package func sign(_ request: SignRequest, binds: [[UInt8]], key: borrowing Secret) throws -> [UInt8] {
    for bind in binds { _ = try connection.answer(to: bind) }
    let added = try connection.answer(to: KeyForAdding.message(adding: key))
    guard added == [MessageNumber.success] else { throw Failure.keyRefused }
    let answer = try connection.answer(to: request.message)
    guard answer.first == MessageNumber.signature else { throw Failure.refused }
    return answer
  }
}

/// The sockets of the machine, as the kernel lists them.
package enum UnixSockets {
  /// How many have this path: one that listens there, and one for each connection to it, also when the path is gone.
  package static func count(named path: String) -> Int {
    let descriptor = unsafe open("/proc/net/unix", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return 0 }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe read(descriptor, &room, room.count)
      guard count > 0 else { break }
      text += room[..<count]
    }
    let wanted = [UInt8(ascii: " ")] + Array(path.utf8)
    return text.split(separator: UInt8(ascii: "\n")).count {
      $0.count > wanted.count && $0.suffix(wanted.count).elementsEqual(wanted)
    }
  }
}
