import AppContainers
import CofferFiles
import Foundation
import Synchronization
import Testing

@Suite struct PurgeTests {
  private func filled() throws -> Scratch {
    let scratch = try Scratch()
    for path in ["Documents/a", "Library/Notes/a", "Library/Preferences/a", "Library/Caches/a/b", "tmp/a/b"] {
      try scratch.write(path)
    }
    return scratch
  }

  private func left(_ scratch: Scratch) -> [String] {
    ["Documents/a", "Library/Notes/a", "Library/Preferences/a", "Library/Caches/a/b", "tmp/a/b"].filter {
      scratch.exists(scratch.inside($0))
    }
  }

  @Test("caches go when the app is stopped and the disk is low") func caches() throws {
    let scratch = try filled()
    #expect(try Purge(scratch.container, isDiskLow: true).emptied == [.caches, .temporary])
    #expect(left(scratch) == ["Documents/a", "Library/Notes/a", "Library/Preferences/a"])
    #expect(scratch.exists(scratch.inside("Library/Caches")) && scratch.exists(scratch.inside("tmp")))
  }

  @Test("tmp goes when the app is stopped, with room on the disk or without") func temporary() throws {
    let scratch = try filled()
    #expect(try Purge(scratch.container, isDiskLow: false).emptied == [.temporary])
    #expect(left(scratch) == ["Documents/a", "Library/Notes/a", "Library/Preferences/a", "Library/Caches/a/b"])
  }

  @Test("nothing of a running app is touched") func running() throws {
    let scratch = try filled()
    var locks = [try RunningLock.running(scratch.app, in: scratch.data.containers())]
    // Several programs of one app run at once.
    locks.append(try RunningLock.running(scratch.app, in: scratch.data.containers()))
    #expect(Scratch.code { _ = try Purge(scratch.container, isDiskLow: true) } == .running)
    #expect(Scratch.code { try scratch.data.removeContainer(scratch.app) } == .running)
    #expect(left(scratch).count == 5)
    locks.removeLast()
    #expect(Scratch.code { _ = try Purge(scratch.container, isDiskLow: true) } == .running)
    locks = []
    #expect(try Purge(scratch.container, isDiskLow: true).emptied.count == 2)
  }

  @Test func noProgramStartsMeanwhile() throws {
    let scratch = try filled()
    let containers = try scratch.data.containers()
    let lock = try RunningLock.excludingPrograms(of: scratch.app, in: containers)
    #expect(Scratch.code { _ = try RunningLock.running(scratch.app, in: containers) } == .busy)
    try lock.remove()
    // A lock that is no longer there keeps nobody out.
    #expect(Scratch.code { _ = try RunningLock.running(scratch.app, in: containers) } == nil)
  }

  /// A process that waits for a lock file which is removed meanwhile must not proceed with it.
  @Test func aLockThatWasRemovedWhileSomebodyWaitedIsNoLock() throws {
    let scratch = try filled()
    let containers = try scratch.data.containers()
    var first: RunningLock? = try RunningLock.excludingPrograms(of: scratch.app, in: containers)
    let taken = Mutex<RunningLock?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      // Longer than one call has patience for.
      for _ in 0..<20 where taken.withLock({ $0 == nil }) {
        let lock = try? RunningLock.running(scratch.app, in: containers)
        taken.withLock { $0 = lock }
      }
      isDone.signal()
    }
    usleep(100_000)
    try first?.remove()
    // Another process has made a new one.
    _ = try containers.makeFile(FileName(".\(scratch.app).running"))
    first = nil
    isDone.wait()
    #expect(taken.withLock { $0 != nil })
    #expect(Scratch.code { _ = try RunningLock.excludingPrograms(of: scratch.app, in: containers) } == .running)
  }

  @Test func aLinkInCachesLeadsNowhere() throws {
    let scratch = try filled()
    try FileManager.default.createSymbolicLink(
      atPath: scratch.inside("Library/Caches/l"), withDestinationPath: scratch.inside("Documents"))
    _ = try Purge(scratch.container, isDiskLow: true)
    #expect(scratch.exists(scratch.inside("Documents/a")) && !scratch.exists(scratch.inside("Library/Caches/l")))
  }

  @Test func aTwentiethOfTheDiskIsLow() throws {
    #expect(Purge.isLow(available: 49, of: 1000) && !Purge.isLow(available: 50, of: 1000))
    #expect(!Purge.isLow(available: 0, of: 0))
    let scratch = try Scratch()
    let attributes = try FileManager.default.attributesOfFileSystem(forPath: scratch.path)
    let free = try #require(attributes[.systemFreeSize] as? NSNumber).doubleValue
    let size = try #require(attributes[.systemSize] as? NSNumber).doubleValue
    // Others write to that disk too.
    if abs(free / size - 0.05) > 0.01 { #expect(try Purge.isDiskLow(at: scratch.data.root) == (free / size < 0.05)) }
  }
}
