import CofferFiles
import Glibc
import OpenSSHAgent
import SSHAgentProtocol
import SecretMemory
import Testing

private let isOpenSSHThere = unsafe access("/usr/bin/ssh-agent", X_OK) == 0

@Suite(.enabled(if: isOpenSSHThere, "takes openssh-client"), .timeLimit(.minutes(60))) struct SignerTests {
  private struct NoSocket: Error {}

  private static func pair() throws -> (AgentConnection, AgentConnection) {
    var ends: [Int32] = [-1, -1]
    _ = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
    guard let one = OwnedDescriptor(ends[0]), let other = OwnedDescriptor(ends[1]) else { throw NoSocket() }
    return (AgentConnection(one), AgentConnection(other))
  }

  @Test func aPrivateAgentAnswersAndEnds() throws {
    var agent: PrivateAgent? = try PrivateAgent()
    let (socket, process) = try #require(agent.map { ($0.socket, $0.process) })
    let connection = try AgentConnection(to: socket)
    #expect(try IdentitiesAnswer(parsing: connection.answer(to: [11]))?.identities == [])
    agent = nil
    #expect(unsafe access(socket, F_OK) != 0)
    #expect(kill(process, 0) != 0)
    #expect(throws: (any Error).self) { try connection.answer(to: [11]) }
  }

  /// A program that has connected before the socket was removed would use the key.
  @Test func noOtherProgramIsConnected() throws {
    let agent = try PrivateAgent()
    let own = try AgentConnection(to: agent.socket)
    #expect(UnixSockets.count(named: agent.socket) == 2)
    let other = try AgentConnection(to: agent.socket)
    agent.hide()
    #expect(UnixSockets.count(named: agent.socket) == 3)
    #expect(throws: AgentConnection.Failure.system(ENOENT)) { try AgentConnection(to: agent.socket) }
    #expect(try own.answer(to: [11]) == other.answer(to: [11]))
  }

  /// OpenSSH's agent refuses bytes that are no key, and nothing of them stays.
  @Test func itsAgentEndsWithIt() throws {
    var signer: Signer? = try Signer()
    let process = try #require(signer?.process)
    let request = try #require(SignRequest(parsing: [13] + WireField.string([1]) + WireField.string([2]) + WireField.number(0)))
    #expect(throws: Signer.Failure.keyRefused) { try signer?.sign(request, binds: [], key: Secret(copying: [1, 2, 3])) }
    signer = nil
    #expect(kill(process, 0) != 0)
  }

  /// More bytes than a message may have are not read, and not waited for.
  @Test(arguments: [UInt32(0), (256 << 10) + 1, .max]) func aMessageHasALength(count: UInt32) throws {
    let (sender, receiver) = try Self.pair()
    let bytes = WireField.number(count)
    #expect(unsafe send(sender.descriptor, bytes, 4, 0) == 4)
    #expect(throws: AgentConnection.Failure.length(count)) { _ = try receiver.receive() }
  }

  @Test func aMessageThatIsCutOffIsNone() throws {
    let (sender, receiver) = try Self.pair()
    try sender.send([1, 2, 3])
    #expect(try receiver.receive()?.copyIntoUnprotectedBytes() == [1, 2, 3])
    #expect(unsafe send(sender.descriptor, WireField.number(2) + [1], 5, 0) == 5)
    sender.shutDown()
    #expect(throws: AgentConnection.Failure.closed) { _ = try receiver.receive() }
  }

  @Test func namesOfKeysAreNamesOfFiles() {
    for name in ["id_ed25519", "a", "A.b-c_d@e+f", String(repeating: "x", count: 200)] {
      #expect(SSHKeyName(name) != nil, "\(name)")
    }
    for name in ["", ".", "..", "-x", ".x", "a/b", "a b", "a\nb", "ä", "a\0", String(repeating: "x", count: 201)] {
      #expect(SSHKeyName(name) == nil, "\(name)")
    }
  }
}
