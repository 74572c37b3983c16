internal import AccessRights
internal import CofferRequests
internal import CofferWire
internal import Glibc
internal import SecretMemory
internal import Synchronization
internal import VaultCore

/// The agent's answers, over its socket. One request at a time; thread-safe. Connects when it is first asked, and again where
/// the agent was started anew.
final class AgentTransport: KeychainTransport {
  let socket: AgentSocket
  private let channel = Mutex<FrameChannel?>(nil)
  /// The number of the last request.
  private let last = Atomic<UInt64>(0)
  /// How long an answer may take.
  private let patience: @Sendable (Request.Kind) -> Int32

  init(_ socket: AgentSocket, patience: @escaping @Sendable (Request.Kind) -> Int32 = { $0.answerMilliseconds }) {
    self.socket = socket
    self.patience = patience
  }

  convenience init(at path: String) { self.init(AgentSocket(path: path)) }

  var isLocked: Bool { get throws { try status.isLocked } }

  var status: AgentStatus {
    get throws {
      guard case .status(let status) = try answer(.session(.status)) else { throw KeychainError.otherAnswer }
      return status
    }
  }

  func lock() throws { _ = try answer(.session(.lock)) }

  func watch() -> any ChangeSource { AgentWatch(socket) }

  func answer(_ request: consuming ItemRequest) throws -> Answer { try answer(.items(request)) }

  func answer(_ request: consuming Request) throws -> Answer {
    let kind = request.kind
    let number = last.wrappingAdd(1, ordering: .relaxed).newValue
    let frame = try Self.frame(request, number)
    return try channel.withLock { channel in
      // The agent does nothing of a request that it has not got whole.
      var isSent = false
      do {
        try send(frame, over: &channel)
        isSent = true
        // The first request of a connection is challenged. A further challenge follows if the agent was started anew in between.
        for _ in 0..<Self.maximumChallenges {
          do {
            return try receive(kind, number, from: channel!)
          } catch let challenge as Challenge {
            isSent = false
            try channel!.answer(challenge)
            try send(frame, over: &channel)
            isSent = true
          }
        }
        throw KeychainError(.agent, "it sends one challenge after the other")
      } catch let error as KeychainError where ![.agent, .agentNotAnswering].contains(error.code) {
        throw error
      } catch {
        // Bytes that still arrive belong to no request.
        channel = nil
        throw Self.failure(error, kind, isSent: isSent)
      }
    }
  }

  private static let maximumChallenges = 4

  /// A request that is too large is not sent.
  static func frame(_ request: consuming Request, _ number: UInt64) throws -> Secret {
    do {
      return try request.frame(request: number)
    } catch let error as WireError {
      throw KeychainError(.notAllowed, "too large: \(error.detail)")
    } catch {
      throw KeychainError(error)
    }
  }

  /// A connection that has ended since the last question is made anew: the kernel takes nothing for an end that is closed.
  private func send(_ frame: borrowing Secret, over channel: inout FrameChannel?) throws {
    // A frame that fills the queue of a stopped agent would be waited with.
    let isLarge = frame.count > WireLimits.smallBodyByteCount
    if let known = channel {
      if isLarge { try socket.checkLife(of: known) }
      do { return try known.send(frame) } catch FrameChannel.Failure.closed { channel = nil }
    }
    let new = try socket.connected()
    channel = new
    if isLarge { try socket.checkLife(of: new) }
    try new.send(frame)
  }

  private func receive(_ kind: Request.Kind, _ number: UInt64, from channel: FrameChannel) throws -> Answer {
    var parts: [[UInt8]] = []
    while true {
      try socket.awaitAnswer(channel, patience(kind))
      guard var frame = try channel.receive() else { throw FrameChannel.Failure.closed }
      guard frame.header.request == number, var message = frame.message.take() else { throw KeychainError.otherAnswer }
      switch frame.header.kind {
      case .part: parts += try message.partsAlone()
      case .challenge: throw try Challenge(message)
      case .failed: throw try message.failure()
      case .done:
        message.parts = parts + message.parts
        return try Answer(to: kind, message)
      case .request, .introduce, .reply, .descriptor, .notices, .progress, .question: throw KeychainError(.agent, "no answer")
      }
    }
  }

  /// Whether a change was made that was sent, and that the agent has not answered, is not known.
  static func failure(_ error: any Error, _ kind: Request.Kind, isSent: Bool) -> KeychainError {
    if let error = error as? KeychainError { return error }
    let isLate = error as? FrameChannel.Failure == .late
    guard isSent else {
      return KeychainError(.agent, isLate ? "it takes no request: nothing was done" : "the connection to the agent has ended")
    }
    return KeychainError(
      kind.traits.effect == .changes ? .inDoubt : .agent,
      isLate ? "it does not answer" : "the connection to the agent has ended")
  }
}

extension KeychainError {
  static let otherAnswer = KeychainError(.agent, "an answer to another question")
}
