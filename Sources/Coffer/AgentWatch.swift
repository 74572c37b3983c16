internal import CLinux
internal import CofferFiles
internal import CofferRequests
internal import CofferWire
internal import SecretMemory
internal import Synchronization

/// Notices of the agent, over a connection of its own that a thread reads. The agent checks the rights; no caller waits for it.
final class AgentWatch: ChangeSource {
  let pending: PendingChanges
  private let reader: AgentWatchReader?

  /// Connects before it returns, so that all that happens afterwards is told. If no agent is there, it tries again and again.
  init(_ socket: AgentSocket, _ visibility: Visibility? = nil) {
    pending = PendingChanges()
    reader = AgentWatchReader(socket, visibility, pending)
    let isStarted = reader?.start() ?? false
    if !isStarted { pending.finish(throwing: KeychainError(.memory, "no thread or no descriptor is left")) }
  }

  deinit { reader?.wakeUp.call() }

  func next() throws(KeychainError) -> Notice? { pending.queue.takeFirst() }
}

/// The thread's part, which does not keep the other alive.
private final class AgentWatchReader: Sendable {
  let wakeUp: EventNotifier
  private let socket: AgentSocket
  private let visibility: Visibility?
  private let pending: PendingChanges
  /// The number of the process that has answered last; 0 before the first.
  private let agent = Atomic<Int32>(0)

  init?(_ socket: AgentSocket, _ visibility: Visibility?, _ pending: PendingChanges) {
    guard let wakeUp = EventNotifier() else { return nil }
    self.wakeUp = wakeUp
    (self.socket, self.visibility) = (socket, visibility)
    self.pending = pending
  }

  /// - Returns: Whether there was a thread.
  func start() -> Bool {
    let first = Result { try connected() }
    return DetachedThread.start("coffer-changes") { [self] in
      do {
        if let (channel, _) = try? first.get() { try read(channel) } else if let error = refusal(first) { throw error }
        while !wakeUp.wait(milliseconds: WireLimits.reconnectMilliseconds).isCalled {
          guard let (channel, isNew) = try whenThere() else { continue }
          // Changes made meanwhile were not delivered.
          pending.queue.put([.missed] + (isNew ? unlocked() : []))
          try read(channel)
        }
      } catch {
        pending.finish(throwing: KeychainError(error))
      }
    }
  }

  /// The notices that a new agent gave before it was watched: if its vault is open, the owner has unlocked it since it began.
  private func unlocked() -> [Notice] {
    guard let status = try? AgentTransport(socket, visibility: visibility).status, status.wasUnlocked else { return [] }
    return status.isLocked ? [.unlocked, .locked] : [.unlocked]
  }

  private func refusal(_ result: Result<Connected, any Error>) -> KeychainError? {
    if case .failure(let error as KeychainError) = result, ![.agent, .agentNotAnswering].contains(error.code) {
      error
    } else {
      nil
    }
  }

  /// Returns nil if no agent runs.
  /// - Throws: `KeychainError`: what the agent refuses.
  private func whenThere() throws -> Connected? {
    let result = Result { try connected() }
    if let error = refusal(result) { throw error }
    return try? result.get()
  }

  /// A connection on which the agent has begun to tell, and whether it is another agent than the last one.
  private typealias Connected = (channel: FrameChannel, isNew: Bool)

  /// - Throws: `KeychainError`; what goes wrong on the way.
  private func connected() throws -> Connected { try visibility?.shown { try identified() } ?? identified() }

  private func identified() throws -> Connected {
    let channel = try socket.connected()
    // The kernel names who answers: the socket itself may be the service manager's.
    _ = coffer_pass_credentials(channel.descriptor)
    var process: Int32 = 0
    func first() throws -> [Notice]? {
      try channel.send(Request.session(.watch).frame(request: 1))
      try socket.awaitAnswer(channel, WireLimits.frameMilliseconds)
      process = coffer_next_sender(channel.descriptor)
      return try notices(channel)
    }
    let told: [Notice]?
    do {
      told = try first()
    } catch let challenge as Challenge {
      try channel.answer(challenge)
      told = try first()
    }
    guard let notices = told, notices.isEmpty else {
      throw KeychainError(.agent, "no answer")
    }
    return (channel, agent.exchange(process, ordering: .relaxed) != process)
  }

  /// Until the agent closes, or the last listener is gone.
  /// - Throws: `KeychainError`: what the agent refuses.
  private func read(_ channel: FrameChannel) throws {
    while true {
      let (isCalled, isThere) = wakeUp.wait(for: channel.descriptor)
      guard !isCalled else { return }
      guard isThere else { continue }
      do {
        guard let notices = try notices(channel) else { return }
        pending.queue.put(notices)
      } catch let error as KeychainError where error.code != .agent {
        throw error
      } catch {
        return
      }
    }
  }

  /// Returns nil if the agent has closed the connection.
  private func notices(_ channel: FrameChannel) throws -> [Notice]? {
    guard var frame = try channel.receive(), let message = frame.message.take() else { return nil }
    switch frame.header.kind {
    case .notices: return try message.notices()
    case .challenge: throw try Challenge(message)
    case .failed: throw try message.failure()
    case .request, .introduce, .reply, .descriptor, .done, .part, .progress, .question: throw KeychainError(.agent, "no notice")
    }
  }
}
