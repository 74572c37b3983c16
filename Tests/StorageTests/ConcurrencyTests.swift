import Children
import CofferStorage
import Glibc
import Testing
import VaultCore

@Suite(.serialized) struct ConcurrencyTests {
  private func counter(_ store: FileStore) throws -> Int {
    try store.read { try $0.header(1) ?? [] }.reduce(0) { $0 << 8 | Int($1) }
  }

  private func resetCounter(_ fixture: Fixture) throws {
    try FileStore(at: fixture.path).commit { _ in
      var change = Change()
      change.header[1] = [0, 0, 0, 0]
      return change
    }
  }

  @Test func eightProcessesLoseNothing() throws {
    let fixture = try Fixture()
    try resetCounter(fixture)
    let children = (0..<8).map { _ in Child([probe, "count-up", fixture.path, "100"]) }
    for child in children { #expect(child.lines() == ["ok"]) }
    let store = try FileStore(at: fixture.path)
    #expect(try counter(store) == 800)
    #expect(try store.recordCount() == 803)
    #expect(run("sqlite3", fixture.path, "PRAGMA integrity_check") == ["ok"])
  }

  @Test func twoWritersGetAboutTheSame() throws {
    let fixture = try Fixture()
    try resetCounter(fixture)
    let children = (0..<2).map { _ in Child([probe, "write-for", fixture.path, "1500"]) }
    let counts = children.map { child in child.lines().first?.split(separator: " ").dropFirst().compactMap { Int($0) } ?? [] }
    #expect(counts.allSatisfy { $0.count == 2 })
    let commits = counts.map { $0[0] }
    #expect(Double(commits.min()!) / Double(commits.max()!) >= 0.5, "\(counts)")
    #expect(commits.min()! > 50)
    #expect(try counter(FileStore(at: fixture.path)) == commits.reduce(0, +))
  }

  @Test func aWriterThatWasStoppedDoesNotHoldOthersForEver() throws {
    let fixture = try Fixture()
    let holder = Child([probe, "hold", fixture.path])
    #expect(holder.line() == "ok holding")
    holder.signal(SIGSTOP)
    let store = try FileStore(at: fixture.path, busyTimeout: .milliseconds(300))
    let clock = ContinuousClock()
    let taken = clock.measure { #expect(code { try store.commit { _ in Fixture.adding(4) } } == .busy) }
    #expect(taken >= .milliseconds(290) && taken < .seconds(120))
    // Two that wait: one holds the turnstile, and gives it back.
    let second = try FileStore(at: fixture.path, busyTimeout: .milliseconds(200))
    #expect(code { try second.commit { _ in Fixture.adding(4) } } == .busy)
    // Readers don't care.
    #expect(try store.recordCount() == 3)
    // And when it dies the kernel takes its locks away.
    holder.signal(SIGKILL)
    _ = holder.wait()
    // Both stores are still there: neither may have kept the turnstile.
    try second.commit { _ in Fixture.adding(4) }
    try store.commit { _ in Fixture.adding(5) }
    #expect(try store.recordCount() == 5)
  }

  @Test func aForeignWriterWithoutTheSideLockCountsAsBusy() throws {
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path, busyTimeout: .milliseconds(300))
    try store.commit { _ in Fixture.adding(4) }
    let shell = Child(["sh", "-c", "(echo 'BEGIN IMMEDIATE; SELECT 1;'; sleep 60) | sqlite3 \(fixture.path)"])
    #expect(shell.line() == "1")
    let taken = ContinuousClock().measure { #expect(code { try store.commit { _ in Fixture.adding(5) } } == .busy) }
    #expect(taken >= .milliseconds(250) && taken < .seconds(120))
    run("pkill", "-KILL", "-P", "\(shell.identifier)")
  }

  @Test(arguments: [false, true]) func aReaderSeesOneState(withJournal: Bool) throws {
    let fixture = try Fixture()
    let writer = try FileStore(at: fixture.path, busyTimeout: .milliseconds(200), withRollbackJournal: withJournal)
    let reader = try FileStore(at: fixture.path, busyTimeout: .milliseconds(200), withRollbackJournal: withJournal)
    try writer.commit { _ in Fixture.adding(4) }
    try reader.read { rows throws in
      #expect(try rows.record(Fixture.identifier(5)) == nil)
      let failure = code { try writer.commit { _ in Fixture.adding(5) } }
      // With a log both go on; with a journal the writer has to wait for the reader.
      #expect(failure == (withJournal ? .busy : nil))
      #expect(try rows.record(Fixture.identifier(5)) == nil)
      #expect(try rows.record(Fixture.identifier(4)) != nil)
    }
    if withJournal { try writer.commit { _ in Fixture.adding(5) } }
    #expect(try reader.recordCount() == 5)
  }

  @Test func twoStoresOfOneThreadExcludeEachOther() throws {
    let fixture = try Fixture()
    let one = try FileStore(at: fixture.path)
    let two = try FileStore(at: fixture.path, busyTimeout: .milliseconds(100))
    try one.commit { _ in
      #expect(code { try two.commit { _ in Fixture.adding(5) } } == .busy)
      return Fixture.adding(4)
    }
    try two.commit { _ in Fixture.adding(5) }
    #expect(try one.recordCount() == 5)
  }

  @Test func aCheckpointDoesNotWaitForReaders() throws {
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path)
    let reader = try FileStore(at: fixture.path)
    try store.commit { _ in Fixture.adding(4) }
    try reader.read { _ in
      try store.commit { _ in Fixture.adding(5) }
      let taken = try ContinuousClock().measure {
        let done = try store.checkpoint()
        #expect(!done)
      }
      #expect(taken < .seconds(120), "it waits as long as the reader is there")
    }
    #expect(try store.checkpoint())
  }

  @Test func fourThreadsWithStoresOfTheirOwn() async throws {
    let fixture = try Fixture()
    try resetCounter(fixture)
    let path = fixture.path
    try await withThrowingTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          let store = try FileStore(at: path, busyTimeout: .seconds(60))
          for _ in 0..<50 {
            try store.commit { rows in
              let old = try rows.header(1)!.reduce(0) { $0 << 8 | UInt32($1) }
              var change = Change()
              change.header[1] = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: (old + 1) >> $0) }
              return change
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try counter(FileStore(at: path)) == 200)
  }
}
