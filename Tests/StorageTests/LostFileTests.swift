import Children
import CofferStorage
import Glibc
import SecretMemory
import Testing

/// Changes of an open vault's file behind the back of SQLite, which does not look at it between two checkpoints.
@Suite(.timeLimit(.minutes(15))) struct LostFileTests {
  /// A store whose last commit lies in the log alone.
  private func opened(_ fixture: Fixture) throws -> FileStore {
    // The journal becomes a log first.
    #expect(run(probe, "add", fixture.path) == ["ok"])
    let store = try FileStore(at: fixture.path)
    try store.commit { _ in Fixture.adding(4) }
    #expect(fixture.names.contains("vault.coffer-wal"))
    return store
  }

  private func copies(_ fixture: Fixture) -> [String] { fixture.names.filter { $0.hasSuffix(".kept") } }

  static let shell: [(String, StorageError.Code)] = [
    ("truncate -s 0 V", .truncated), ("truncate -s 8192 V", .truncated), ("truncate -s -1 V", .truncated),
    ("dd if=/dev/zero of=V bs=4096 count=1 conv=notrunc status=none", .truncated),
    ("head -c 100000 /dev/urandom > V", .truncated), ("rm V", .replaced), ("cp V W; mv W V", .replaced),
    ("cp V W; mv V U; mv W V", .replaced), ("mv V W; ln -s W V", .replaced),
    ("printf '\\001\\001' | dd of=V bs=1 seek=18 conv=notrunc status=none", .replaced),
  ]

  @Test(arguments: shell) func nothingIsAcknowledgedIntoALostFile(command: String, expected: StorageError.Code) throws {
    let fixture = try Fixture()
    let store = try opened(fixture)
    let log = Fixture.read("\(fixture.path)-wal")
    run("sh", "-c", "cd \(fixture.directory); V=vault.coffer; \(command.replacing("V", with: "$V"))")
    for byte in UInt8(5)...9 { #expect(code { try store.commit { _ in Fixture.adding(byte) } } == expected, "\(command)") }
    // It stays so, and each refusal names the same copy, which has all that the log had.
    let copies = copies(fixture)
    #expect(copies.count == 1, "\(command)")
    if let copy = copies.first {
      #expect(Fixture.read("\(fixture.directory)/\(copy)") == log)
      do { _ = try store.recordCount() } catch let error as StorageError {
        #expect(error.code == expected && error.detail.contains("/\(copy)"), "\(error)")
      }
    }
    store.rest()
    #expect(code { _ = try store.recordCount() } == expected)
  }

  @Test(arguments: shell) func aReaderNotices(command: String, expected: StorageError.Code) throws {
    let fixture = try Fixture()
    let store = try opened(fixture)
    run("sh", "-c", "cd \(fixture.directory); V=vault.coffer; \(command.replacing("V", with: "$V"))")
    #expect(code { _ = try store.recordCount() } == expected)
    #expect(copies(fixture).count == 1)
  }

  /// The last chance: SQLite would write its log into the file, and delete it.
  @Test func closingNotices() throws {
    let fixture = try Fixture()
    let log: [UInt8]
    do {
      let store = try opened(fixture)
      log = Fixture.read("\(fixture.path)-wal")
      run("truncate", "-s", "0", fixture.path)
      withExtendedLifetime(store) {}
    }
    #expect(fixture.read() == [])
    #expect(copies(fixture).map { Fixture.read("\(fixture.directory)/\($0)") } == [log])
    // And what opens it afterwards leaves the log where it is.
    #expect(code { _ = try FileStore(at: fixture.path) } == .truncated)
    #expect(Fixture.read("\(fixture.path)-wal") == log)
    #expect(copies(fixture).count == 1)
  }

  @Test func withoutALogThereIsNothingToCopy() throws {
    let fixture = try Fixture()
    let store = try opened(fixture)
    #expect(try store.checkpoint())
    run("truncate", "-s", "0", fixture.path)
    #expect(code { try store.commit { _ in Fixture.adding(5) } } == .truncated)
    #expect(copies(fixture) == [] && fixture.read() == [])
  }

  @Test func withAJournalToo() throws {
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path, busyTimeout: .seconds(1), withRollbackJournal: true)
    try store.commit { _ in Fixture.adding(4) }
    run("truncate", "-s", "4096", fixture.path)
    #expect(code { try store.commit { _ in Fixture.adding(5) } } == .truncated)
    #expect(fixture.read().count == 4096)
  }

  /// A process was killed, then its file was cut: the log is all that is left of what it had answered.
  @Test(arguments: [0, 50, 4096]) func openingBesideALog(count: Int) throws {
    let fixture = try Fixture()
    let child = Child([probe, "add-and-hold", fixture.path])
    #expect(child.line() == "ok holding")
    child.signal(SIGKILL)
    _ = child.wait()
    let log = Fixture.read("\(fixture.path)-wal")
    #expect(log.count > 4096)
    run("truncate", "-s", "\(count)", fixture.path)
    for _ in 0..<2 { #expect(code { _ = try FileStore(at: fixture.path) } == .truncated) }
    #expect(Fixture.read("\(fixture.path)-wal") == log && fixture.read().count == count)
    #expect(copies(fixture).map { Fixture.read("\(fixture.directory)/\($0)") } == [log])
  }

  /// A log belongs to a name. SQLite plays it into whatever file has that name.
  @Test func aBackupInItsPlaceStaysWhatItIs() throws {
    let fixture = try Fixture()
    #expect(run(probe, "add", fixture.path) == ["ok"])
    let backup = fixture.read()
    do {
      let store = try opened(fixture)
      Fixture.write(backup, to: "\(fixture.path).backup")
      run("mv", "\(fixture.path).backup", fixture.path)
      #expect(code { _ = try store.recordCount() } == .replaced)
    }
    #expect(try FileStore(at: fixture.path).recordCount() == 4)
    #expect(fixture.read() == backup)
    #expect(copies(fixture).count == 1)
  }

  /// A backup has no log. Another store still has the log of the file that was there, which would be played into it.
  @Test func aBackupThatWasCopiedOverAnOpenFileIsNotWritten() throws {
    let fixture = try Fixture()
    let backup = fixture.read()
    do {
      let store = try opened(fixture)
      Fixture.write(backup, to: fixture.path)
      #expect(code { _ = try FileStore(at: fixture.path) } == .replaced)
      #expect(code { _ = try store.recordCount() } == .replaced)
    }
    #expect(copies(fixture).count == 1 && fixture.read() == backup)
    try FileStore(at: fixture.path).commit { _ in Fixture.adding(5) }
  }

  /// A reader keeps the log, and not the changes in it from the file. Nobody waits.
  @Test func aReaderKeepsTheLogAlone() throws {
    let fixture = try Fixture()
    let store = try opened(fixture)
    let other = try FileStore(at: fixture.path)
    try other.read { _ throws -> Void in
      #expect(!store.fold())
      // As a copy would have it.
      run("cp", fixture.path, "\(fixture.path).copy")
      #expect(try FileStore(at: "\(fixture.path).copy").recordCount() == 5)
      store.rest()
      #expect(store.logByteCount > 0)
    }
    #expect(store.fold() && store.logByteCount == 0)
    store.rest()
  }

  /// Other processes bring the log into the file, and make it longer; none makes it shorter.
  @Test func changesOfOtherProcessesAreNoLoss() throws {
    let fixture = try Fixture()
    let store = try opened(fixture)
    for round in 0..<20 {
      #expect(run(probe, "add", fixture.path, "20") == ["ok"])
      if round % 3 == 0 { #expect(try store.checkpoint()) }
      try store.commit { _ in Fixture.adding(UInt8(10 + round)) }
    }
    #expect(try store.recordCount() == 3 + 1 + 1 + 20 * 21)
  }
}
