package import CofferWire
internal import Synchronization

/// Where what happens to one vault is told to all who watch it.
package final class NoticeBoard: Sendable {
  fileprivate struct State {
    var queues: [ObjectIdentifier: NoticeQueue] = [:]
    /// The generation up to which all was told.
    var generation: UInt64 = 0
  }

  private let state = Mutex(State())

  package init() {}

  package func add(_ queue: NoticeQueue) { state.withLock { $0.queues[ObjectIdentifier(queue)] = queue } }

  package func remove(_ queue: NoticeQueue) { state.withLock { $0.queues[ObjectIdentifier(queue)] = nil } }

  package var isWatched: Bool { state.withLock { !$0.queues.isEmpty } }

  /// Locked, unlocked.
  package func tell(_ notice: Notice) { state.withLock { $0.tell([notice]) } }

  /// What one commit has done, or none. Where the vault has gone further than that, others have changed it.
  /// - Parameter generation: The newest that was seen.
  package func tell(_ changes: [Notice], generation: UInt64) {
    state.withLock { state in
      guard generation != state.generation else { return }
      if generation != state.generation &+ (changes.isEmpty ? 0 : 1) { state.tell([.missed]) }
      state.tell(changes)
      state.generation = generation
    }
  }

  /// Nobody is told how the vault came to be what it is.
  package func begin(atGeneration generation: UInt64) { state.withLock { $0.generation = generation } }
}

extension NoticeBoard.State {
  fileprivate func tell(_ notices: [Notice]) { for queue in queues.values { queue.put(notices) } }
}
