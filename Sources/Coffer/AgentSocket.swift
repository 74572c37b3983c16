internal import CLinux
internal import CofferFiles
internal import CofferRequests
internal import CofferWire
internal import Glibc

/// Where an agent listens, and which user may have put the socket there.
struct AgentSocket: Sendable {
  let path: String
  /// Whether root alone may have.
  var isOfSystem = false

  /// - Throws: `KeychainError`: `agentNotAnswering`; `agent` if no agent is there, or that of another user.
  func connected() throws -> FrameChannel {
    if isOfSystem { try SystemAgent.checkKept(path) }
    guard let descriptor = OwnedDescriptor(coffer_local_socket()) else {
      throw KeychainError(.agent, "no socket: errno \(errno)")
    }
    // The queue of an agent that has stopped is full at some time.
    setPatience(of: descriptor.number)
    guard unsafe coffer_local_name(descriptor.number, path, 0) == 0 else {
      let number = errno
      guard number != ENAMETOOLONG else {
        throw KeychainError(
          .agent, cause: .absentAgent, "\(path): is too long for a socket, whose path has at most 107 bytes")
      }
      guard number != EAGAIN else { throw KeychainError(.agentNotAnswering, path) }
      throw KeychainError(.agent, cause: .absentAgent, "\(path): no agent listens there (errno \(number))")
    }
    var credentials = coffer_credentials()
    // Check the listener's user: another one could have put a socket there, and would receive secrets.
    guard unsafe coffer_peer_credentials(descriptor.number, &credentials) == 0,
      credentials.user == 0 || credentials.user == geteuid() && !isOfSystem
    else { throw KeychainError(.agent, "\(path): belongs to user \(credentials.user)") }
    return FrameChannel(descriptor)
  }
}
