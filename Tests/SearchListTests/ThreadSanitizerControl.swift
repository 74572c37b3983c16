#if THREAD_SANITIZER
import Foundation
import CofferPreferences
import CofferPropertyLists
import Synchronization
import Testing

/// Controls for the thread sanitizer: its silence elsewhere is meaningful only if it reports these. `Tests/ThreadSanitizer/run`
/// runs each of them alone. They are compiled under the sanitizer only.
@Suite struct ThreadSanitizerControl {
  @Test func withoutALockIsReported() {
    let shared = Unlocked()
    onThreads(2) { thread in
      // The threads are apart in time, so that no memory is damaged, but no operation orders them.
      if thread == 1 { usleep(200_000) }
      shared.values["thread\(thread)"] = .integer(1)
    }
    #expect(shared.values.count == 2)
  }

  @Test func ourMutexIsSeen() {
    let values = Mutex(PropertyListDictionary())
    onThreads(2) { thread in
      if thread == 1 { usleep(100_000) }
      values.withLock {
        $0["thread\(thread)"] = .integer(1)
        if thread == 0 { usleep(300_000) }
      }
    }
    #expect(values.withLock { $0.count } == 2)
  }

  /// A false report, which is the reason for the mutex in `Tests/ThreadSanitizer`. Thread 1 must have waited.
  @Test func theStandardMutexIsNotSeen() {
    let values = Synchronization.Mutex(PropertyListDictionary())
    onThreads(2) { thread in
      if thread == 1 { usleep(100_000) }
      values.withLock {
        $0["thread\(thread)"] = .integer(1)
        if thread == 0 { usleep(300_000) }
      }
    }
    #expect(values.withLock { $0.count } == 2)
  }

  @Test func anAtomicIsSeen() {
    let shared = Unlocked()
    let isWritten = Atomic(false)
    onThreads(2) { thread in
      if thread == 0 {
        shared.values["k"] = .integer(1)
        isWritten.store(true, ordering: .releasing)
      } else {
        while !isWritten.load(ordering: .acquiring) { usleep(1000) }
        shared.values["k"] = .integer(2)
      }
    }
    #expect(shared.values["k"] == .integer(2))
  }

  private final class Unlocked: @unchecked Sendable {
    var values = PropertyListDictionary()
  }
}
#endif
