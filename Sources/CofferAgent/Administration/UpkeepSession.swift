import CofferFiles
import CofferRequests
import CofferWire
import SecretMemory

/// The connection of a client for which work on the whole vault is under way: its progress and its questions. For one thread.
///
/// The work ends where a call throws that the client has gone: it has closed, takes no frame in time, or has sent something without being
/// asked.
final class UpkeepSession {
  /// The time between two notices of one part of the work, in milliseconds.
  private static let period: Int64 = 100

  private let channel: FrameChannel
  /// The number of the request.
  private let number: UInt64
  private var part = ""
  /// When the last notice was sent; nil: none of this part.
  private var lastNotice: Int64?

  /// Whether the client is a process of root's, which needs no credential.
  let isRoot: Bool

  init(_ channel: FrameChannel, _ number: UInt64, isRoot: Bool = false) {
    (self.channel, self.number, self.isRoot) = (channel, number, isRoot)
  }

  /// A part of the work begins.
  /// - Parameter part: For people, such as `checking`.
  /// - Throws: `FrameChannel.Failure`.
  func begin(_ part: String) throws {
    (self.part, lastNotice) = (part, nil)
    try checkThere()
  }

  /// To be called between transactions and every thousand records or so.
  /// - Throws: `FrameChannel.Failure`.
  func step(_ done: UInt64, of total: UInt64) throws {
    try checkThere()
    let now = AgentVault.clock()
    if let lastNotice, now - lastNotice < Self.period { return }
    lastNotice = now
    try channel.send(UpkeepProgress(part, done, of: total).frame(request: number))
  }

  /// - Throws: `FrameChannel.Failure`: `closed`.
  private func checkThere() throws {
    // A client that was not asked sends nothing: it has closed the connection, or violates the protocol.
    guard try !channel.isReadable(within: 0) else { throw FrameChannel.Failure.closed }
  }

  // MARK: Questions

  /// Waits for as long as a person takes. The caller has no lock that other programs wait for.
  /// - Throws: `FrameChannel.Failure`; `WireError`; `VaultError` of locked memory.
  func reply(to question: UpkeepQuestion) throws -> UpkeepReply {
    try checkThere()
    try channel.send(question.frame(request: number))
    guard var frame = try channel.receive() else { throw FrameChannel.Failure.closed }
    guard frame.header.kind == .reply, frame.header.request == number, let message = frame.message.take() else {
      throw WireError(.operation, "\(frame.header.kind) in the place of a reply")
    }
    return try .parse(message)
  }

  /// - Throws: as `reply`.
  func isAgreed(_ question: UpkeepQuestion) throws -> Bool {
    switch try reply(to: question) {
    case .yes: true
    case .no: false
    default: throw WireError(.malformed, "neither yes nor no")
    }
  }

  /// The client's file, whatever it is.
  /// - Throws: as `reply`.
  func takeFile() throws -> OwnedDescriptor {
    try checkThere()
    try channel.send(UpkeepQuestion(.file).frame(request: number))
    return try channel.takeFile(request: number)
  }

  /// Hands a file on to the client.
  /// - Throws: as `reply`.
  func hand(_ file: Int32) throws {
    guard try isAgreed(UpkeepQuestion(.offer)) else { throw WireError(.malformed, "an offer is not declined") }
    try channel.hand(file, request: number)
  }
}
