import Synchronization

/// Locks by collection and attributes: of several programs that replace one item, one comes after the other. Thread-safe.
final class ItemLocks: Sendable {
  struct Key: Hashable, Sendable {
    let collection: String
    let attributes: [String: String]
  }

  private final class Lock: Sendable {
    let mutex = Mutex(())
  }

  /// The locks that threads have or wait for, with the number of these.
  private let locks = Mutex<[Key: (lock: Lock, users: Int)]>([:])

  func withLock<Result: Sendable>(_ key: Key, _ body: () throws -> Result) rethrows -> Result {
    let lock = locks.withLock { locks in
      let (lock, users) = locks[key] ?? (Lock(), 0)
      locks[key] = (lock, users + 1)
      return lock
    }
    defer {
      locks.withLock { locks in
        if let (lock, users) = locks[key] { locks[key] = users > 1 ? (lock, users - 1) : nil }
      }
    }
    return try lock.mutex.withLock { _ in try body() }
  }
}
