internal import CofferRequests
internal import CofferWire
internal import Glibc
internal import Synchronization
internal import VaultCore

/// The agent's answers, over its socket. One request at a time; thread-safe. Connects when it is first asked, and again where the agent was
/// started anew.
final class AgentTransport: KeychainTransport, @unchecked Sendable {
  private let socket: AgentSocket
  private let mutex = Mutex(())
  private var channel: FrameChannel?
  private var number: UInt64 = 0

  /// How long an answer may take.
  private let patience: @Sendable (CofferWire.Operation) -> Int32

  init(_ socket: AgentSocket, patience: @escaping @Sendable (CofferWire.Operation) -> Int32 = { $0.answerMilliseconds }) {
    self.socket = socket
    self.patience = patience
  }

  convenience init(at path: String) { self.init(AgentSocket(path: path)) }

  var isLocked: Bool { get throws { try status.isLocked } }

  var status: AgentStatus {
    get throws {
      guard case .status(let status) = try answer(.status) else { throw KeychainError(.agent, "an answer to another question") }
      return status
    }
  }

  func lock() throws { _ = try answer(.lock) }

  func watch() -> any ChangeSource { AgentWatch(socket) }

  func answer(_ call: consuming Call) throws -> Answer {
    let operation = call.operation
    var call: Call? = consume call
    return try mutex.withLock { _ in
      // The agent does nothing of a request that it has not got whole.
      var isSent = false
      do {
        number += 1
        guard let call = call.take() else { throw KeychainError(.agent) }
        let frame = try Self.frame(call, number)
        try send(frame)
        isSent = true
        // The first request of a connection is challenged. A further challenge follows if the agent was started anew in between.
        for _ in 0..<Self.maximumChallenges {
          do {
            return try receive(operation)
          } catch let challenge as Challenge {
            isSent = false
            try channel!.answer(challenge)
            try send(frame)
            isSent = true
          }
        }
        throw KeychainError(.agent, "it sends one challenge after the other")
      } catch let error as KeychainError where ![.agent, .agentNotAnswering].contains(error.code) {
        throw error
      } catch {
        // What may still come belongs to no question any more.
        channel = nil
        throw Self.failure(error, operation, isSent: isSent)
      }
    }
  }

  private static let maximumChallenges = 4

  /// What does not fit is never sent.
  private static func frame(_ call: consuming Call, _ number: UInt64) throws -> Secret {
    do {
      return try call.frame(request: number)
    } catch let error as WireError {
      throw KeychainError(.notAllowed, "too large: \(error.detail)")
    } catch {
      throw KeychainError(error)
    }
  }

  /// A connection that has ended since the last question is made anew: the kernel takes nothing for an end that is closed.
  private func send(_ frame: borrowing Secret) throws {
    // A frame that fills the queue of a stopped agent would be waited with.
    let isLarge = frame.count > WireLimits.smallBodyByteCount
    if let channel {
      if isLarge { try socket.checkLife(of: channel) }
      do { return try channel.send(frame) } catch FrameChannel.Failure.closed { self.channel = nil }
    }
    let channel = try socket.connected()
    self.channel = channel
    if isLarge { try socket.checkLife(of: channel) }
    try channel.send(frame)
  }

  private func receive(_ operation: CofferWire.Operation) throws -> Answer {
    var before: [Entry] = []
    var rows: [Attributes] = []
    while true {
      try socket.awaitAnswer(channel!, patience(operation))
      guard let (header, body) = try channel!.receive() else { throw FrameChannel.Failure.closed }
      guard header.request == number else { throw KeychainError(.agent, "an answer to another question") }
      var message = try body.message()
      switch header.operation {
      case .part where operation.answersWithRows: rows += try message.rows()
      case .part: before += try message.entries().entries
      case .challenge: throw try Challenge(message)
      case .failed: throw try message.keychainError()
      case .done where operation.answersWithRows: return .rows(rows + (try message.rows()))
      case .done: return try Self.answer(operation, &message, before)
      default: throw KeychainError(.agent, "no answer")
      }
    }
  }

  private static func answer(_ operation: CofferWire.Operation, _ message: inout Message, _ before: [Entry]) throws -> Answer {
    switch operation {
    case .status: return .status(try message.status())
    case .entitlements:
      let (held, application) = try message.entitlements()
      return .entitlements(held, application: application)
    case .items, .entry:
      var found = try message.entries()
      found.entries = before + found.entries
      return .entries(found)
    case .contains: return .flag(try message.flag())
    case .secret: return .secret(try message.secret.take() ?? Secret(count: 0))
    case .add, .update, .move: return .reference(try message.reference())
    default: return .done
    }
  }

  /// Whether a change was made that was sent, and that the agent has not answered, is not known.
  private static func failure(_ error: any Error, _ operation: CofferWire.Operation, isSent: Bool) -> KeychainError {
    if let error = error as? KeychainError { return error }
    let isChange = ![
      .status, .lock, .unlock, .entitlements, .items, .contains, .entry, .secret, .inspect, .pins, .itemCount, .grants, .leases,
      .log,
      .logPart,
    ]
    .contains(operation)
    let isLate = error as? FrameChannel.Failure == .late
    guard isSent else {
      return KeychainError(.agent, isLate ? "it takes no request: nothing was done" : "the connection to the agent has ended")
    }
    return KeychainError(isChange ? .inDoubt : .agent, isLate ? "it does not answer" : "the connection to the agent has ended")
  }
}

extension Call {
  fileprivate var operation: CofferWire.Operation {
    borrowing get {
      switch self {
      case .status: .status
      case .unlock: .unlock
      case .lock: .lock
      case .end: .end
      case .entitlements: .entitlements
      case .inspect: .inspect
      case .items: .items
      case .entry: .entry
      case .secret: .secret
      case .add: .add
      case .update: .update
      case .move: .move
      case .remove: .remove
      case .contains: .contains
      case .discard: .discard
      case .watch: .watch
      case .vault(let call): call.operation
      case .apps(let call): call.operation
      }
    }
  }
}

extension CofferWire.Operation {
  fileprivate var answersWithRows: Bool {
    [.inspect, .pins, .itemCount, .forget, .grants, .leases, .log, .logPart].contains(self)
  }
}
