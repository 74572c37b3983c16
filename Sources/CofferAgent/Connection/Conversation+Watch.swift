import CofferFiles
import CofferRequests
import CofferWire

/// A connection that asks nothing more, and is told what happens. It has this thread for itself, so that it may be as slow as it
/// likes: what it has not heard waits in a queue that does not grow.
extension Conversation {
  /// Until one side closes, or the client may not watch any more.
  /// - Returns: True if the client was sent a challenge, and nothing else.
  /// - Throws: `FrameChannel.Failure`; errors of locked memory.
  func watch() throws -> Bool {
    do {
      let first = try decide(after: nil)
      guard first.decision != .challenge else { throw try senderProof.challenge(first.facts) }
      try tell(first)
    } catch let error as FrameChannel.Failure {
      throw error
    } catch {
      try send(error)
      return error is Challenge
    }
    return false
  }

  private func tell(_ first: (facts: Gate.Facts, decision: Gate.Decision)) throws {
    guard let wakeUp = EventNotifier() else { throw KeychainError(.memory, "no descriptor is left") }
    let queue = NoticeQueue { wakeUp.call() }
    shared.vault.board.add(queue)
    defer { shared.vault.board.remove(queue) }
    var (filter, last) = (NoticeFilter(), first)
    // Changes are delivered from here on.
    try channel.send(Notice.frame([], request: number))
    while true {
      let (_, isOver) = wakeUp.wait(for: channel.descriptor)
      // A watching client sends nothing: it has closed the connection, or violates the protocol.
      guard !isOver else { return }
      wakeUp.clear()
      let notices = queue.takeAll()
      last = try decide(after: last)
      guard case .allow(let role) = last.decision else { return }
      let program = role == .owner ? nil : last.facts.program
      let visible = try shared.vault.visible(notices, &filter) { try caller(program, in: $0) }
      if !visible.isEmpty { try channel.send(Notice.frame(visible, request: number)) }
    }
  }

  /// Identifies the client and its right to watch, anew each time. Logged if the result differs from the last one.
  /// - Throws: `KeychainError` for a refusal; what cannot be logged.
  private func decide(
    after last: (facts: Gate.Facts, decision: Gate.Decision)?
  ) throws -> (facts: Gate.Facts, decision: Gate.Decision) {
    let facts = try facts(.watch)
    let decision = Gate.decide(facts)
    let isNew = decision != last?.decision || facts.program != last?.facts.program
    if isNew, decision != .challenge { try shared.append(facts, decision, peer) }
    if case .refuse = decision { throw decision.error }
    return (facts, decision)
  }
}
