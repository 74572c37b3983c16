import Glibc
import Synchronization

/// How many times this process was forked off from another one since it began to count: what belongs to one process alone notes the number.
///
/// A lock of flock(2) belongs to the open file, which parent and child share: either of them would pass while the other one holds it.
enum ForkCount {
  private static let count = Atomic<Int>(0)

  private static let counting: Void = {
    // The child's handler must find it there.
    _ = count.load(ordering: .relaxed)
    pthread_atfork(nil, nil) { ForkCount.count.add(1, ordering: .relaxed) }
  }()

  /// Counts from now on.
  static func start() { _ = counting }

  static var current: Int { count.load(ordering: .relaxed) }
}
