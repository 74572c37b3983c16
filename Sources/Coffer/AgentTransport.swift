internal import AccessRights
internal import CofferFiles
internal import CofferRequests
internal import CofferWire
internal import Glibc
internal import SecretMemory
internal import Synchronization
internal import VaultCore

/// The agent's answers, over its socket. One request at a time; thread-safe. Connects when it is first asked, and again where
/// the agent was started anew.
final class AgentTransport: KeychainTransport {
  /// The connection, which transports for several programs share.
  private final class Line: Sendable {
    let channel = Mutex<FrameChannel?>(nil)
    /// The number of the last request.
    let last = Atomic<UInt64>(0)
    /// Whether the agent has identified this program on the connection.
    let isIdentified = Atomic<Bool>(false)
  }

  /// A new connection is needed, for which this process must not be hidden.
  private struct Hidden: Error {}

  let socket: AgentSocket
  private let line: Line
  /// The program that requests about items are for, if it is not this one.
  private let client: BusClient?
  /// nil if this process is not hidden.
  private let visibility: Visibility?
  /// How long an answer may take.
  private let patience: @Sendable (Request.Kind) -> Int32

  init(
    _ socket: AgentSocket, visibility: Visibility? = nil,
    patience: @escaping @Sendable (Request.Kind) -> Int32 = { $0.answerMilliseconds }
  ) {
    self.socket = socket
    self.visibility = visibility
    self.patience = patience
    (line, client) = (Line(), nil)
  }

  /// The same connection, for another program.
  init(sharing other: AgentTransport, for client: BusClient) {
    (socket, visibility, patience, line) = (other.socket, other.visibility, other.patience, other.line)
    self.client = client
  }

  convenience init(at path: String, visibility: Visibility? = nil) {
    self.init(AgentSocket(path: path), visibility: visibility)
  }

  var isLocked: Bool { get throws { try status.isLocked } }

  var status: AgentStatus {
    get throws {
      guard case .status(let status) = try answer(.session(.status)) else { throw KeychainError.otherAnswer }
      return status
    }
  }

  func lock() throws { _ = try answer(.session(.lock)) }

  func watch() -> any ChangeSource { AgentWatch(socket, visibility) }

  func answer(_ request: consuming ItemRequest) throws -> Answer { try answer(.items(request), for: client) }

  func answer(_ request: consuming Request) throws -> Answer { try answer(request, for: nil) }

  private func answer(_ request: consuming Request, for client: BusClient?) throws -> Answer {
    let kind = request.kind
    let number = line.last.wrappingAdd(1, ordering: .relaxed).newValue
    let frame = try Self.frame(request, number, for: client)
    return try line.channel.withLock { channel in
      guard let visibility else { return try exchange(frame, kind, number, over: &channel) }
      if channel != nil, !visibility.isForEachRequest, line.isIdentified.load(ordering: .relaxed) {
        do { return try exchange(frame, kind, number, over: &channel, isHidden: true) } catch is Hidden {}
      }
      return try visibility.shown { try exchange(frame, kind, number, over: &channel) }
    }
  }

  private func exchange(
    _ frame: borrowing Secret, _ kind: Request.Kind, _ number: UInt64, over channel: inout FrameChannel?, isHidden: Bool = false
  ) throws -> Answer {
    // The agent does nothing of a request that it has not got whole.
    var isSent = false
    do {
      try send(frame, over: &channel, isHidden: isHidden)
      isSent = true
      // The first request of a connection is challenged. A further challenge follows if the agent was started anew in between.
      for _ in 0..<Self.maximumChallenges {
        do {
          return try receive(kind, number, from: channel!)
        } catch let challenge as Challenge {
          isSent = false
          try channel!.answer(challenge)
          try send(frame, over: &channel, isHidden: isHidden)
          isSent = true
        }
      }
      throw KeychainError(.agent, "it sends one challenge after the other")
    } catch let error as KeychainError where ![.agent, .agentNotAnswering].contains(error.code) {
      throw error
    } catch let hidden as Hidden {
      throw hidden
    } catch {
      // Bytes that still arrive belong to no request.
      channel = nil
      throw Self.failure(error, kind, isSent: isSent)
    }
  }

  private static let maximumChallenges = 4

  /// A request that is too large is not sent.
  static func frame(_ request: consuming Request, _ number: UInt64, for client: BusClient? = nil) throws -> Secret {
    do {
      return try request.frame(request: number, for: client)
    } catch let error as WireError {
      throw KeychainError(.notAllowed, "too large: \(error.detail)")
    } catch {
      throw KeychainError(error)
    }
  }

  /// A connection that has ended since the last question is made anew: the kernel takes nothing for an end that is closed.
  /// - Throws: Also `Hidden`.
  private func send(_ frame: borrowing Secret, over channel: inout FrameChannel?, isHidden: Bool) throws {
    // A frame that fills the queue of a stopped agent would be waited with.
    let isLarge = frame.count > WireLimits.smallBodyByteCount
    if let known = channel {
      if isLarge { try socket.checkLife(of: known) }
      do { return try known.send(frame) } catch FrameChannel.Failure.closed { channel = nil }
    }
    guard !isHidden else { throw Hidden() }
    line.isIdentified.store(false, ordering: .relaxed)
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
        // Anybody may ask for the status.
        if kind.traits.access != .everybody { line.isIdentified.store(true, ordering: .relaxed) }
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
