internal import AccessRights
internal import Synchronization
package import VaultCore

/// A change that watchers are notified of.
package enum Notice: Hashable, Sendable {
  case added(Reference)
  case updated(Reference)
  case removed(Reference)
  case locked
  case unlocked
  /// More has happened than is listed.
  case missed

  /// The item that it is about.
  package var reference: Reference? {
    switch self {
    case .added(let reference), .updated(let reference), .removed(let reference): reference
    case .locked, .unlocked, .missed: nil
    }
  }
}

extension ItemRequest.Intention {
  /// - Parameter new: The reference in the answer.
  package func notices(_ new: Reference?) -> [Notice] {
    switch self {
    case .nothing: []
    case .adding: new.map { [.added($0)] } ?? []
    case .updating(let old), .moving(let old): new.map { $0 == old ? [.updated($0)] : [.removed(old), .added($0)] } ?? []
    case .removing(let old): [.removed(old)]
    case .removingUnread, .addingAll: [.missed]
    }
  }
}

/// The notices that a watching client has not received yet. Adding never blocks. Beyond the limit all are dropped and replaced by
/// one `missed`, which also covers later changes of items until it is taken.
package final class NoticeQueue: Sendable {
  /// Notices that wait for one watcher. With `missed` they fit into one frame.
  package static let limit = 255

  private let limit: Int
  private let filled: @Sendable () -> Void
  private let waiting = Mutex<[Notice]>([])

  /// - Parameter filled: Called whenever there is something new. Must not wait.
  package init(limit: Int = NoticeQueue.limit, filled: @escaping @Sendable () -> Void) {
    self.limit = limit
    self.filled = filled
  }

  package func put(_ notices: [Notice]) {
    guard !notices.isEmpty else { return }
    waiting.withLock { waiting in
      for notice in notices where waiting.last != .missed || notice == .locked || notice == .unlocked {
        if waiting.count >= limit { waiting = [.missed] } else { waiting.append(notice) }
      }
    }
    filled()
  }

  /// In the order in which it happened.
  package func takeAll() -> [Notice] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }

  package func takeFirst() -> Notice? {
    waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }
}

/// Filters notices by the rights of a watching client at the time of delivery.
package struct NoticeFilter: Sendable {
  /// Whether something could not be judged, because the vault is locked.
  private var owesMissed = false

  package init() {}

  /// - Parameter caller: Identifies the watching client anew.
  /// - Throws: what `caller` throws, but for `locked`: then nothing of items is told, and later that something was missed.
  package mutating func visible(_ notices: [Notice], _ caller: () throws -> Caller) throws -> [Notice] {
    do {
      let caller = try caller()
      let allowed = notices.filter { notice in
        guard let reference = notice.reference else { return true }
        return (try? caller.check(reference.group, .list)) != nil
      }
      defer { owesMissed = false }
      return owesMissed ? [.missed] + allowed : allowed
    } catch let error where KeychainError(error).code == .locked {
      let others = notices.filter { $0 == .locked || $0 == .unlocked }
      if others.count < notices.count { owesMissed = true }
      return others
    }
  }
}

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

  /// The changes of one commit, or none. If the vault's generation is larger than that, other processes have changed it.
  /// - Parameter generation: The newest that was seen.
  package func tell(_ changes: [Notice], generation: UInt64) {
    state.withLock { state in
      guard generation != state.generation else { return }
      if generation != state.generation &+ (changes.isEmpty ? 0 : 1) { state.tell([.missed]) }
      state.tell(changes)
      state.generation = generation
    }
  }

  /// Sets the baseline generation; watchers are not notified.
  package func begin(atGeneration generation: UInt64) { state.withLock { $0.generation = generation } }
}

extension NoticeBoard.State {
  fileprivate func tell(_ notices: [Notice]) { for queue in queues.values { queue.put(notices) } }
}
