import Children
import CofferFiles
import CofferStorage
import Glibc
import Testing
import VaultCore

@Suite struct DurabilityTests {
  private func trace(_ fixture: Fixture, _ options: [String], _ command: String...) -> (lines: [String], calls: [String]) {
    let log = "\(fixture.directory)/trace"
    let lines = Child(["strace", "-f", "-qq", "-y", "-o", log] + options + [probe] + command).lines()
    return (lines, String(decoding: Fixture.read(log), as: UTF8.self).split(separator: "\n").map(String.init))
  }

  @Test func everyCommitIsSynced() throws {
    let fixture = try Fixture()
    func syncs(_ count: Int) -> Int {
      let traced = trace(fixture, ["-e", "trace=fdatasync,fsync"], "add", fixture.path, "\(count)")
      #expect(traced.lines == ["ok"])
      return traced.calls.filter { $0.contains("-wal>") }.count
    }
    _ = syncs(1)
    // The last sync belongs to the checkpoint on closing.
    let one = syncs(1)
    #expect(syncs(21) == one + 20)
  }

  @Test func withAJournalTheDirectoryIsSyncedToo() throws {
    let fixture = try Fixture()
    let traced = trace(fixture, ["-e", "trace=fdatasync,fsync,unlink"], "add-with-journal", fixture.path, "5")
    #expect(traced.lines == ["ok"])
    for kind in ["vault.coffer-journal>", "vault.coffer>"] {
      #expect(traced.calls.filter { $0.contains("sync(") && $0.contains(kind) }.count >= 5, "\(kind)")
    }
    // Each journal that is removed is followed by a sync of the directory: until then a power loss would bring the old state
    // back.
    for (index, call) in traced.calls.enumerated() where call.contains("unlink(") {
      #expect(index + 1 < traced.calls.count && traced.calls[index + 1].contains("\(fixture.directory)>"))
    }
    #expect(traced.calls.filter { $0.contains("unlink(") }.count == 5)
  }

  @Test func creationIsSynced() throws {
    let fixture = try Fixture(withVault: false)
    let traced = trace(fixture, ["-e", "trace=fsync,renameat2"], "create", fixture.path)
    #expect(traced.lines == ["ok"])
    let calls = traced.calls.filter { $0.contains(fixture.directory) }
    #expect(calls.count == 3)
    #expect(calls[0].contains("fsync(") && calls[0].contains(".new>"))
    #expect(calls[1].contains("renameat2("))
    #expect(calls[2].contains("fsync(") && calls[2].contains("\(fixture.directory)>"))
  }

  /// Until the directory is on the disk, a power loss brings back the key of before, which the command has said to be gone.
  @Test func aNewKeyOfThisDeviceIsSyncedInItsPlace() throws {
    let fixture = try Fixture(withVault: false)
    let traced = trace(fixture, ["-e", "trace=fsync,rename,renameat2"], "take-next-key", fixture.directory)
    #expect(traced.lines == ["ok"])
    let calls = traced.calls.suffix(2)
    #expect(calls.first?.contains("rename") == true && calls.first?.contains(".new") == true, "\(traced.calls)")
    #expect(calls.last?.contains("fsync(") == true && calls.last?.contains("\(fixture.directory)/state>") == true)
  }

  @Test func aFailedSyncLeavesTheOutcomeInDoubtAndTheStoreUnusable() throws {
    let fixture = try Fixture()
    // From DELETE to WAL first, so that the syncs that are counted are those of the commits.
    #expect(run(probe, "add", fixture.path) == ["ok"])
    var sawDoubt = false
    for number in 1...6 {
      let before = try FileStore(at: fixture.path).recordCount()
      let traced = trace(
        fixture, ["-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO:when=\(number)"], "add-twice", fixture.path)
      let after = try FileStore(at: fixture.path).recordCount()
      let lines = traced.lines
      if let doubt = lines.firstIndex(of: "inDoubt") {
        sawDoubt = true
        // All later calls say so too, and no sync was tried again.
        #expect(lines[doubt...].allSatisfy { $0 == "inDoubt" })
      } else if lines.first != "ok" {
        // Before the commit: certainly not made.
        #expect(lines.first == "io")
      }
      // (SQLite passes over syncs of the directory.) Not even by the checkpoint of closing: the sync that failed is the last.
      if let failed = traced.calls.firstIndex(where: { $0.contains("EIO") && $0.contains("vault.coffer") }) {
        #expect(failed == traced.calls.count - 1)
      }
      let acknowledged = lines.prefix(2).filter { $0 == "ok" }.count
      #expect(after >= before + acknowledged && after <= before + 2)
    }
    #expect(sawDoubt)
  }

  @Test func aCheckpointEmptiesTheLog() throws {
    let fixture = try Fixture()
    #expect(run(probe, "add", fixture.path) == ["ok"])
    let store = try FileStore(at: fixture.path)
    try store.commit { _ in Fixture.adding(4) }
    #expect(fixture.names.contains("vault.coffer-wal"))
    #expect(try store.checkpoint())
    #expect(run("stat", "-c", "%s", "\(fixture.path)-wal") == ["0"])
  }

  @Test func aStoreThatRestsIsOneFile() throws {
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path)
    let before = try store.recordCount()
    try store.commit { _ in Fixture.adding(4) }
    #expect(fixture.names.contains("vault.coffer-wal"))
    store.rest()
    #expect(Set(fixture.names) == ["vault.coffer", "vault.coffer.lock"])
    // The next call finds it unchanged.
    #expect(try store.recordCount() == before + 1)
    try store.commit { _ in Fixture.adding(5) }
    #expect(try store.recordCount() == before + 2)
    store.rest()
    store.rest()
    #expect(try FileStore(at: fixture.path).recordCount() == before + 2)
  }

  @Test func aCommitThatWasKilledIsWholeOrNotThere() throws {
    let fixture = try Fixture()
    let start = try FileStore(at: fixture.path).recordCount()
    for round in 0..<8 {
      let child = Child([probe, "bulk", fixture.path])
      for _ in 0...round { #expect(child.line() == "ok") }
      // Somewhere in the commit that follows.
      usleep(.random(in: 0..<5000))
      child.signal(SIGKILL)
      _ = child.wait()
      let count = try FileStore(at: fixture.path).recordCount()
      #expect((count - start) % 50 == 0)
    }
    #expect(try FileStore(at: fixture.path).recordCount() > start)
    #expect(run("sqlite3", fixture.path, "PRAGMA integrity_check") == ["ok"])
  }

  @Test(arguments: ["pwrite64", "fdatasync", "unlink", "ftruncate"]) func killedAtTheNthCallWithAJournal(call: String) throws {
    let fixture = try Fixture()
    for number in 1...8 {
      let before = try FileStore(at: fixture.path, busyTimeout: .seconds(1), withRollbackJournal: true).recordCount()
      let injection = "inject=\(call):signal=KILL:when=\(number)"
      let traced = trace(fixture, ["-e", "trace=\(call)", "-e", injection], "add-with-journal", fixture.path, "2")
      let after = try FileStore(at: fixture.path, busyTimeout: .seconds(1), withRollbackJournal: true).recordCount()
      #expect(after - before <= 2 && after >= before)
      if traced.lines == ["ok"] { #expect(after == before + 2) }
    }
  }

  @Test func aFailedWriteOfTheCommitLeavesTheOutcomeInDoubtAndTheStoreUnusable() throws {
    let fixture = try Fixture()
    #expect(run(probe, "add", fixture.path) == ["ok"])
    let traced = trace(
      fixture, ["-P", "\(fixture.path)-wal", "-e", "trace=pwrite64", "-e", "inject=pwrite64:error=EIO:when=2"], "add-twice",
      fixture.path)
    #expect(traced.lines == ["inDoubt", "inDoubt", "inDoubt"])
  }

  @Test func aCheckpointAfterACommitThatFailsInSyncSpoilsTheStoreButNotTheCommit() throws {
    let fixture = try Fixture()
    #expect(run(probe, "add", fixture.path) == ["ok"])
    // About 16 pages a commit: the checkpoint after the 1000th page syncs the log, and then the file, which fails.
    let traced = trace(
      fixture, ["-P", fixture.path, "-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO:when=1"], "add-large",
      fixture.path, "200")
    #expect(traced.calls.filter { $0.contains("EIO") }.count == 1)
    #expect(traced.lines.count == 2 && traced.lines.first == "inDoubt")
    let acknowledged = traced.lines.last.flatMap { Int($0.dropFirst(3)) } ?? -1
    #expect(acknowledged > 10 && acknowledged < 200)
    #expect(try FileStore(at: fixture.path).recordCount() == 4 + acknowledged)
  }

  @Test func theJournalFollowsTheFileSystem() throws {
    let fixture = try Fixture()
    for (withJournal, mark) in [(false, UInt8(2)), (true, 1), (false, 2)] {
      try FileStore(at: fixture.path, busyTimeout: .seconds(1), withRollbackJournal: withJournal).commit { _ in
        Fixture.adding(mark + 3)
      }
      #expect(fixture.read()[18] == mark)
      #expect(fixture.names == ["vault.coffer", "vault.coffer.lock"])
    }
    #expect(try FileStore(at: fixture.path).recordCount() == 5)
  }

  @Test func fileSystemsWithoutSharedMemory() {
    for type in [0x6969, 0xFF53_4D42, 0x6573_5546, 0x0102_1997] as [UInt32] { #expect(SharedFileSystem.contains(type: type)) }
    // ext4, btrfs, XFS, tmpfs, overlay.
    for type in [0xEF53, 0x9123_683E, 0x5846_5342, 0x0102_1994, 0x794C_7630] as [UInt32] {
      #expect(!SharedFileSystem.contains(type: type))
    }
  }

  @Test func atRestThereIsOneFile() throws {
    let fixture = try Fixture()
    do {
      let store = try FileStore(at: fixture.path)
      try store.commit { _ in Fixture.adding(4) }
      #expect(fixture.names.contains("vault.coffer-wal"))
    }
    #expect(fixture.names == ["vault.coffer", "vault.coffer.lock"])
    #expect(Fixture.read("\(fixture.path).lock").allSatisfy { $0 == 0 })
    // And that file is the vault: a copy of it has everything.
    run("cp", "-p", fixture.path, "\(fixture.directory)/copy")
    #expect(try FileStore(at: "\(fixture.directory)/copy").recordCount() == 4)
  }

  @Test func theLogIsBroughtInOnTheWay() throws {
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path)
    for round in 0..<8 {
      try store.commit { _ in
        var change = Change()
        for byte in 0..<200 {
          let id = Identifier([UInt8(round), UInt8(byte)] + Array(repeating: 0, count: 14))!
          change.records[id] = SealedRecord(
            id: id, group: .zero, meta: Array(repeating: 0, count: 16), attributes: Array(repeating: 1, count: 2000),
            secret: Array(repeating: 1, count: 2000))
        }
        return change
      }
    }
    // 1600 records of a page each, and the log starts again after about a thousand.
    #expect(Fixture.read("\(fixture.path)-wal").count < 1700 * 4096)
    #expect(fixture.read().count > 1000 * 4096)
  }
}
