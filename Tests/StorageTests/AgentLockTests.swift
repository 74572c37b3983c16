import CofferFiles
import Glibc
import Synchronization
import Testing

@testable import CofferStorage

@Suite struct AgentLockTests {
  private final class Other: Sendable {
    let isOver = Atomic(false)
    let hasEnded = Atomic(false)
    let lost = Atomic(0)
  }

  @Test func aHeldLockIsFreeWhenItsHolderHasGone() throws {
    let fixture = try Fixture(withVault: false)
    let path = fixture.directory + "/agent.lock"
    #expect(try AgentLock.isFree(path, until: Deadline(after: .zero)))
    let holder = Mutex<AgentLock?>(try AgentLock(at: path))
    #expect(try !AgentLock.isFree(path, until: Deadline(after: .zero)))
    try #require(DetachedThread.start("goes") { holder.withLock { $0 = nil } })
    #expect(try AgentLock.isFree(path, until: Deadline(after: .seconds(600))))
  }

  /// A number that was closed may be another thread's by then: a second `close` closes what that thread has opened.
  @Test func aRefusedLockClosesNoDescriptorOfAnotherThread() throws {
    let fixture = try Fixture(withVault: false)
    let path = fixture.directory + "/agent.lock"
    let holder = try AgentLock(at: path)
    let other = Other()
    try #require(
      DetachedThread.start("opens") {
        while !other.isOver.load(ordering: .relaxed) {
          // The kernel gives the lowest free number: the one that the refused lock has just closed.
          let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
          if descriptor >= 0, close(descriptor) != 0 { other.lost.add(1, ordering: .relaxed) }
        }
        other.hasEnded.store(true, ordering: .releasing)
      })
    for _ in 0..<20_000 where other.lost.load(ordering: .relaxed) == 0 {
      #expect(throws: StorageError(.busy)) { _ = try AgentLock(at: path) }
    }
    other.isOver.store(true, ordering: .relaxed)
    for _ in 0..<60_000 where !other.hasEnded.load(ordering: .acquiring) { usleep(1000) }
    let (hasEnded, lost) = (other.hasEnded.load(ordering: .acquiring), other.lost.load(ordering: .relaxed))
    #expect(hasEnded, "the other thread has not ended within a minute")
    #expect(lost == 0, "the refused lock has closed what another thread had opened")
    withExtendedLifetime(holder) {}
  }
}
