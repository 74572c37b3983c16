package import CofferFiles
package import CofferRequests
internal import CofferWire
internal import SecretMemory
internal import VaultCore

/// The side of the person while an agent works on a whole vault.
package protocol UpkeepClient {
  /// Called now and then. An error ends the connection, and with it the work, after the transaction at hand.
  func show(_ progress: UpkeepProgress) throws
  /// - Throws: An error that ends the work, as `show`.
  func reply(to question: UpkeepQuestion) throws -> UpkeepReply
  /// Called after an offer was accepted.
  /// - Throws: As `show`.
  func take(_ file: consuming OwnedDescriptor) throws
}

extension UpkeepClient {
  package func reply(to question: UpkeepQuestion) throws -> UpkeepReply {
    throw KeychainError(.agent, "a question that was not expected")
  }

  package func take(_ file: consuming OwnedDescriptor) throws {
    throw KeychainError(.agent, "a file that was not expected")
  }
}

extension AgentTransport {
  /// Over a connection of its own: it may take long, and a second request of this process waits for it in no case.
  /// - Throws: the errors of `client`, unchanged; `KeychainError`.
  func answer(_ request: consuming UpkeepRequest, _ client: some UpkeepClient) throws -> [Attributes] {
    let (kind, number) = (request.kind, UInt64(1))
    let frame = try Self.frame(.upkeep(request), number)
    var isSent = false
    do {
      let channel = try socket.connected()
      try channel.send(frame)
      isSent = true
      return try rows(from: channel, number, client)
    } catch let error where error is FrameChannel.Failure || error is WireError {
      throw Self.failure(error, kind, isSent: isSent)
    }
  }

  private func rows(from channel: FrameChannel, _ number: UInt64, _ client: some UpkeepClient) throws -> [Attributes] {
    var parts: [[UInt8]] = []
    while true {
      // As long as the agent takes connections. A person may be asked meanwhile, or a large vault read.
      try socket.awaitAnswer(channel, .max)
      guard var frame = try channel.receive() else { throw FrameChannel.Failure.closed }
      guard frame.header.request == number, var message = frame.message.take() else { throw KeychainError.otherAnswer }
      switch frame.header.kind {
      case .progress: try client.show(UpkeepProgress(message))
      case .question:
        let question = try UpkeepQuestion(message)
        try channel.send(client.reply(to: question), request: number)
        if question.kind == .offer { try client.take(channel.takeFile(request: number)) }
      case .part: parts += try message.partsAlone()
      case .failed: throw try message.failure()
      case .done:
        message.parts = parts + message.parts
        return try message.rows()
      case .request, .introduce, .reply, .descriptor, .notices, .challenge: throw KeychainError(.agent, "no answer")
      }
    }
  }
}
