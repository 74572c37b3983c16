internal import CofferRequests
internal import Synchronization

/// Where the changes of a keychain come from. Lets go of it when it goes.
protocol ChangeSource: AnyObject, Sendable {
  var pending: PendingChanges { get }
  /// The next one that the caller may hear. Does not wait.
  func next() throws(KeychainError) -> Notice?
}

/// The changes that the reader of `Keychain.changes` has not read yet.
final class PendingChanges: Sendable {
  let queue: NoticeQueue
  /// One for any number of changes, and the end.
  let signals: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let end = Mutex<KeychainError?>(nil)

  init() {
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    (self.signals, self.continuation) = (signals, continuation)
    queue = NoticeQueue { continuation.yield() }
  }

  /// Why there are no more.
  var failure: KeychainError? { end.withLock { $0 } }

  func finish(throwing failure: KeychainError) {
    end.withLock { $0 = failure }
    continuation.finish()
  }
}

/// Changes through one keychain whose vault is open in this process.
final class InProcessWatch: ChangeSource {
  let pending = PendingChanges()
  private let transport: InProcessTransport
  private let filter = Mutex(NoticeFilter())
  private let ready = Mutex<[Notice]>([])

  init(_ transport: InProcessTransport) {
    self.transport = transport
    transport.board.add(pending.queue)
  }

  deinit { transport.board.remove(pending.queue) }

  func next() throws(KeychainError) -> Notice? {
    do {
      while true {
        if let notice = ready.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return notice }
        guard let notice = pending.queue.takeFirst() else { return nil }
        let visible = try filter.withLock { try transport.visible(notice, &$0) }
        ready.withLock { $0 += visible }
      }
    } catch {
      throw KeychainError(error)
    }
  }
}
