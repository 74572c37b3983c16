import CofferFiles
import CofferRequests
import CofferWire

/// A connection that asks nothing more, and is told what happens. It has this thread for itself, so that it may be as slow as it likes:
/// what it has not heard waits in a queue that does not grow.
extension Conversation {
  /// Until one side closes, or the client may not watch any more.
  /// - Returns: True if the client was sent a challenge, and nothing else.
  /// - Throws: `FrameChannel.Failure`; errors of locked memory.
  func watch(_ request: UInt64) throws -> Bool {
    do {
      let (facts, decision) = try decide(after: nil)
      guard decision != .challenge else {
        try channel.send(senderProof.challenge(facts).frame(request: request))
        return true
      }
      try tell(request, decision)
    } catch let error as FrameChannel.Failure {
      throw error
    } catch {
      try Answer.failed(KeychainError(error)).frames(request: request) { try channel.send($0) }
    }
    return false
  }

  private func tell(_ request: UInt64, _ first: Gate.Decision) throws {
    guard let wakeUp = EventNotifier() else { throw KeychainError(.memory, "no descriptor is left") }
    let queue = NoticeQueue { wakeUp.call() }
    shared.vault.board.add(queue)
    defer { shared.vault.board.remove(queue) }
    var (filter, decision) = (NoticeFilter(), first)
    // What happens from here on is told.
    try channel.send(Notice.frame([], request: request))
    while true {
      let (_, isOver) = wakeUp.wait(for: channel.descriptor)
      // Who watches has nothing to say: it has closed, or does not speak the protocol.
      guard !isOver else { return }
      wakeUp.clear()
      let notices = queue.takeAll()
      decision = try decide(after: decision).decision
      guard case .allow(let name) = decision else { return }
      let visible = try shared.vault.visible(notices, &filter) { try caller(name, in: $0) }
      if !visible.isEmpty { try channel.send(Notice.frame(visible, request: request)) }
    }
  }

  /// Who it is, and whether it may watch, found out anew each time. Logged where it is not what it was.
  /// - Throws: `KeychainError` for a refusal; what cannot be logged.
  private func decide(after last: Gate.Decision?) throws -> (facts: Gate.Facts, decision: Gate.Decision) {
    let facts = try facts(.watch)
    let decision = Gate.decide(facts)
    if decision != last, decision != .challenge { try log(facts, decision) }
    if case .refuse(let code, let rule) = decision { throw KeychainError(code, rule) }
    return (facts, decision)
  }
}
