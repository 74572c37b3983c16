internal import CofferFiles
internal import CofferRequests
internal import CofferWire
internal import SecretMemory

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
        if let channel = try? first.get() { try read(channel) } else if let error = refusal(first) { throw error }
        while !wakeUp.wait(milliseconds: WireLimits.reconnectMilliseconds).isCalled {
          guard let channel = try whenThere() else { continue }
          // Changes made meanwhile were not delivered.
          pending.queue.put([.missed])
          try read(channel)
        }
      } catch {
        pending.finish(throwing: KeychainError(error))
      }
    }
  }

  private func refusal(_ result: Result<FrameChannel, any Error>) -> KeychainError? {
    if case .failure(let error as KeychainError) = result, ![.agent, .agentNotAnswering].contains(error.code) {
      error
    } else {
      nil
    }
  }

  /// Returns nil if no agent runs.
  /// - Throws: `KeychainError`: what the agent refuses.
  private func whenThere() throws -> FrameChannel? {
    let result = Result { try connected() }
    if let error = refusal(result) { throw error }
    return try? result.get()
  }

  /// A connection on which the agent has begun to tell.
  /// - Throws: `KeychainError`; what goes wrong on the way.
  private func connected() throws -> FrameChannel { try visibility?.shown { try identified() } ?? identified() }

  private func identified() throws -> FrameChannel {
    let channel = try socket.connected()
    func first() throws -> [Notice]? {
      try channel.send(Request.session(.watch).frame(request: 1))
      try socket.awaitAnswer(channel, WireLimits.frameMilliseconds)
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
    return channel
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
