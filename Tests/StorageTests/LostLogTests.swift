import Children
import CofferStorage
import Glibc
import Testing
import VaultCore

/// Changes of an open vault's log, and of the log's index, behind the back of SQLite.
@Suite(.timeLimit(.minutes(15))) struct LostLogTests {
  private func copies(_ fixture: Fixture) -> [String] { fixture.names.filter { $0.hasSuffix(".kept") } }

  /// A process that has added a record, which is in the log alone. It adds another one at each signal.
  private func writer(_ fixture: Fixture) -> Child {
    #expect(run(probe, "add", fixture.path) == ["ok"])
    let writer = Child([probe, "add-at-signals", fixture.path])
    #expect(writer.line() == "ok")
    return writer
  }

  private func shell(_ command: String, in fixture: Fixture) { run("sh", "-c", "cd \(fixture.directory) && \(command)") }

  private static let indexLost = ["rm vault.coffer-shm", "cp -p vault.coffer-shm other && mv other vault.coffer-shm"]

  /// Each of two processes with an index of its own overwrote in the log what the other one had been told was there.
  @Test(arguments: indexLost, [false, true])
  func twoIndexesForOneLog(command: String, opensFirst: Bool) throws {
    let fixture = try Fixture()
    let writer = writer(fixture)
    shell(command, in: fixture)
    if opensFirst {
      // The one that opens the vault cannot see by the file that another one has an older index.
      for _ in 0..<2 { #expect(run(probe, "add", fixture.path).first == "replaced") }
      #expect(code { _ = try FileStore(at: fixture.path) } == .replaced)
    }
    writer.signal(SIGUSR1)
    #expect(writer.line() == "replaced")
    #expect(copies(fixture).count == 1)
    // The writer has closed it. All that was acknowledged is there.
    #expect(run(probe, "read", fixture.path) == ["ok 5"])
    #expect(run(probe, "add", fixture.path) == ["ok"])
    writer.signal(SIGUSR1)
    #expect(writer.line() == "replaced")
    writer.signal(SIGKILL)
    _ = writer.wait()
    #expect(run(probe, "read", fixture.path) == ["ok 6"])
  }

  @Test(arguments: indexLost) func aProcessThatDiesWithTheOldIndexLosesNothing(command: String) throws {
    let fixture = try Fixture()
    let writer = writer(fixture)
    shell(command, in: fixture)
    #expect(run(probe, "add", fixture.path).first == "replaced")
    writer.signal(SIGKILL)
    _ = writer.wait()
    #expect(run(probe, "add", fixture.path) == ["ok"])
    #expect(run(probe, "read", fixture.path) == ["ok 6"])
  }

  /// Two stores of one process share an index, also one that was removed.
  @Test func aSecondStoreOfTheProcess() throws {
    let fixture = try Fixture()
    #expect(run(probe, "add", fixture.path) == ["ok"])
    let store = try FileStore(at: fixture.path)
    try store.commit { _ in Fixture.adding(4) }
    try FileStore(at: fixture.path).commit { _ in Fixture.adding(5) }
    run("rm", "\(fixture.path)-shm")
    for _ in 0..<2 { #expect(code { _ = try FileStore(at: fixture.path) } == .replaced) }
    #expect(code { _ = try store.recordCount() } == .replaced)
    #expect(try FileStore(at: fixture.path).recordCount() == 6)
  }

  /// A commit that was under way is in the log, and so in its copy.
  @Test(arguments: ["-shm", "-wal"]) func removedDuringACommit(suffix: String) throws {
    let fixture = try Fixture()
    #expect(run(probe, "add", fixture.path) == ["ok"])
    let store = try FileStore(at: fixture.path)
    try store.commit { _ in Fixture.adding(4) }
    #expect(
      code {
        try store.commit { _ in
          run("rm", "\(fixture.path)\(suffix)")
          return Fixture.adding(5)
        }
      } == .inDoubt)
    #expect(code { try store.commit { _ in Fixture.adding(6) } } == .replaced)
    try putBack(fixture)
    #expect(try FileStore(at: fixture.path).recordCount() == 6)
  }

  /// As coffer-vault(1) says.
  private func putBack(_ fixture: Fixture) throws {
    let copy = try #require(copies(fixture).first)
    #expect(copies(fixture).count == 1)
    run("cp", "\(fixture.directory)/\(copy)", "\(fixture.path)-wal")
  }

  /// SQLite has it open, and it is copied from there.
  @Test(arguments: ["rm vault.coffer-wal", "rm vault.coffer-wal && touch vault.coffer-wal && chmod 600 vault.coffer-wal"])
  func aLogThatWasRemovedIsKept(command: String) throws {
    let fixture = try Fixture()
    let writer = writer(fixture)
    let log = Fixture.read("\(fixture.path)-wal")
    shell(command, in: fixture)
    writer.signal(SIGUSR1)
    #expect(writer.line() == "replaced")
    #expect(copies(fixture).map { Fixture.read("\(fixture.directory)/\($0)") } == [log])
    // No process has it open any more.
    try putBack(fixture)
    #expect(run(probe, "read", fixture.path) == ["ok 5"])
    #expect(run(probe, "add", fixture.path) == ["ok"])
  }

  /// Four bytes each, because a single one could be there already.
  static let overwritten = [
    "dd if=/dev/zero of=vault.coffer-wal bs=32 count=1 conv=notrunc status=none",
    "printf XXXX | dd of=vault.coffer-wal bs=1 seek=16 conv=notrunc status=none",
    "printf XXXX | dd of=vault.coffer-wal bs=1 seek=24 conv=notrunc status=none",
  ]

  /// SQLite writes behind such a header, and takes the log for an empty one when it is opened next.
  @Test(arguments: overwritten) func aHeaderThatWasOverwrittenIsMendedInTheCopy(command: String) throws {
    let fixture = try Fixture()
    let writer = writer(fixture)
    let log = Fixture.read("\(fixture.path)-wal")
    shell(command, in: fixture)
    for _ in 0..<3 {
      writer.signal(SIGUSR1)
      #expect(writer.line() == "truncated")
    }
    writer.signal(SIGKILL)
    _ = writer.wait()
    // A program that opens it in between does not touch the copy.
    #expect(run(probe, "read", fixture.path) == ["ok 4"])
    #expect(copies(fixture).map { Fixture.read("\(fixture.directory)/\($0)") } == [log])
    try putBack(fixture)
    #expect(run(probe, "read", fixture.path) == ["ok 5"])
  }

  @Test(arguments: ["vault.coffer-wal", "vault.coffer-shm"], ["0", "-1"])
  func nothingIsAcknowledgedIntoWhatWasCut(name: String, count: String) throws {
    let fixture = try Fixture()
    let writer = writer(fixture)
    shell("truncate -s \(count) \(name)", in: fixture)
    for _ in 0..<3 {
      writer.signal(SIGUSR1)
      // Not the end of the process by SIGBUS, unless it is cut while SQLite reads it.
      #expect(writer.line() == "truncated")
    }
    writer.signal(SIGKILL)
    _ = writer.wait()
    if name.hasSuffix("-shm") { #expect(run(probe, "read", fixture.path) == ["ok 5"]) }
  }

  /// The frames of the commit make the log as long as before, and leave a hole where those of the commits before it were.
  @Test(arguments: ["32", "-4120"]) func cutDuringACommit(count: String) throws {
    let fixture = try Fixture()
    #expect(run(probe, "add", fixture.path) == ["ok"])
    let store = try FileStore(at: fixture.path)
    try store.commit { _ in Fixture.adding(4) }
    #expect(
      code {
        try store.commit { _ in
          shell("truncate -s \(count) vault.coffer-wal", in: fixture)
          return Fixture.adding(5)
        }
      } == .inDoubt)
    #expect(code { try store.commit { _ in Fixture.adding(6) } } == .truncated)
  }

  /// A process between two transactions sees it at its next one, though another one has written since.
  @Test func cutDuringACommitOfAnother() throws {
    let fixture = try Fixture()
    let writer = writer(fixture)
    let store = try FileStore(at: fixture.path)
    // SQLite has all pages in memory then, and does not meet the hole.
    try store.commit { _ in Fixture.adding(4) }
    #expect(
      code {
        try store.commit { _ in
          shell("truncate -s 32 vault.coffer-wal", in: fixture)
          return Fixture.adding(5)
        }
      } == .inDoubt)
    writer.signal(SIGUSR1)
    #expect(writer.line() == "truncated")
  }

  /// The last process was killed, and SQLite deletes such a log.
  @Test(arguments: overwritten) func aLogWithoutAValidHeaderIsCopiedBeforeItIsOpened(command: String) throws {
    let fixture = try Fixture()
    let writer = writer(fixture)
    writer.signal(SIGKILL)
    _ = writer.wait()
    let log = Fixture.read("\(fixture.path)-wal")
    shell(command, in: fixture)
    let damaged = Fixture.read("\(fixture.path)-wal")
    #expect(run(probe, "read", fixture.path) == ["ok 4"])
    #expect(!fixture.names.contains("vault.coffer-wal"))
    #expect(copies(fixture).map { Fixture.read("\(fixture.directory)/\($0)") } == [damaged])
    #expect(damaged.dropFirst(32) == log.dropFirst(32))
  }

  /// A process that was killed while it copied a log has left a part of the copy. A process that still copies has its file locked.
  @Test(arguments: [false, true]) func anIncompleteCopyIsRemovedByTheNextOpen(isLost: Bool) throws {
    let fixture = try Fixture()
    let name = "vault.coffer-wal.0123456789abcdef.kept"
    Fixture.write([], to: "\(fixture.directory)/\(name)")
    let living = try UnnamedVault(for: "\(fixture.directory)/\(name)")
    let others = [".other.coffer-wal.0123456789abcdef.kept.0123456789abcdef.new", ".\(name).0123456789abcdef.old"]
    for other in others + [".\(name).0123456789abcdef.new"] { Fixture.write([], to: "\(fixture.directory)/\(other)") }
    if isLost { shell("truncate -s 0 vault.coffer", in: fixture) }
    let outcome = run(probe, "read", fixture.path)
    #expect((outcome == ["ok 3"]) == !isLost)
    let left = fixture.names.filter { $0.hasPrefix(".") }.sorted()
    #expect(left == (others + [String(living.path.dropFirst(fixture.directory.count + 1))]).sorted())
    #expect(fixture.names.contains(name))
  }

  /// Writers begin the log anew, and cut it off, while others look at it.
  @Test func changesOfOtherProcessesAreNoLoss() throws {
    let fixture = try Fixture()
    let writers = (0..<2).map { _ in Child([probe, "write-for", fixture.path, "3000"]) }
    let folder = try FileStore(at: fixture.path)
    let reader = try FileStore(at: fixture.path)
    for _ in 0..<300 {
      #expect(try folder.recordCount() >= 3)
      folder.fold()
      #expect(try reader.recordCount() >= 3)
    }
    for writer in writers { #expect(writer.line()?.hasPrefix("ok ") == true) }
    #expect(copies(fixture) == [])
  }
}
