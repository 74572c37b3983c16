import Children
import CofferFiles
import CofferStorage
import CofferTesting
import Glibc
import SecretMemory
import Testing
import VaultCore

@testable import CofferLifecycle

@Suite struct BackupTests {
  @Test func namesAreReadAsTheyAreWritten() throws {
    var random = SeededGenerator(seed: 76)
    for _ in 0..<1000 {
      let time = Timestamp(secondsSince1970: .random(in: 0..<253_402_300_800, using: &random))
      let occasion = [BackupName.Occasion.ordinary, .restore, .repair].randomElement(using: &random) ?? .ordinary
      let name = BackupName(time: time, generation: .random(in: 0 ... .max, using: &random), occasion: occasion)
      #expect(BackupName(name.text) == name)
    }
    #expect(BackupName("20231114T221320Z-g42-before-restore.coffer")?.occasion == .restore)
    #expect(BackupName(time: .test, generation: 42).text == "20231114T221320Z-g42.coffer")
  }

  @Test(arguments: [
    "", "notes.coffer", "20231114T221320Z-g42.coffer.gz", "20231114T221320Z-g042.coffer", "20231114T221320Z-g-1.coffer",
    "20231114T221320Z-g42-.coffer", "20231114T221320Z-g42-before.coffer", "20231114T221320Z-g42-before-restore-.coffer",
    "20231332T221320Z-g42.coffer", "20231114t221320Z-g42.coffer", "20231114T221320Z-g18446744073709551616.coffer",
    "2023111４T22132Z-g42.coffer", ".20231114T221320Z-g42.coffer.0123456789abcdef.new",
  ]) func otherNamesAreNotOurs(name: String) { #expect(BackupName(name) == nil) }

  @Test func aBackupHasEveryRowAndIsAtRest() throws {
    let fixture = Fixture()
    try fixture.makeVault(items: 700, secret: String(repeating: "x", count: 9000))
    var steps: [UInt64] = []
    let backup = try fixture.backup { done, total in
      steps.append(done)
      #expect(total == 701)
    }
    let path = try #require(backup.path)
    #expect(steps.first == 0 && steps.last == 701)
    #expect(backup.status.generation == 2 && backup.status.recordCount == 701)
    for table in ["hdr", "node", "rec"] {
      let query = "SELECT * FROM \(table)"
      #expect(run("sqlite3", path, ".mode quote", query) == run("sqlite3", fixture.path, ".mode quote", query))
    }
    #expect(run("sqlite3", path, "PRAGMA integrity_check; PRAGMA journal_mode") == ["ok", "delete"])
    #expect(run("stat", "-c", "%a %s", path)[0].hasPrefix("600 "))
    #expect(fixture.names(fixture.backups.path) == ["20231114T221320Z-g2.coffer"])
    #expect(try fixture.open(path).verify().isSound)
  }

  /// Several backups within a second: the names of the first ones are of later seconds.
  @Test func theNewestByItsNameIsTheLastOne() throws {
    let fixture = Fixture()
    try fixture.makeVault()
    for _ in 1...3 { _ = try fixture.backup() }
    var vault = try fixture.open(fixture.path)
    _ = try vault.add(Item(service: "later", account: ""), secret: Secret(testing: "x"), at: .test)
    try vault.close()
    let last = try fixture.backup()
    #expect(fixture.backups.names.map(\.generation) == [3, 2, 2, 2])
    #expect(try fixture.backups.newest(forVaultAt: fixture.path) == last.path)
  }

  @Test func theNewestTenStayAndOtherFilesToo() throws {
    let fixture = Fixture()
    try fixture.makeVault()
    let directory = fixture.backups.path
    for other in ["notes.txt", "mine.coffer", "damaged-20231114T221320Z"] {
      _ = try fixture.backup()
      run("touch", "\(directory)/\(other)")
    }
    for time in 1...12 {
      try fixture.change()
      let backup = try fixture.backup(at: Int64(time) * 60)
      fixture.backups.prune(keeping: [try #require(backup.path)])
    }
    #expect(fixture.backups.names.count == 10)
    let expected: [Int64] = [12, 11, 10, 9, 8, 7, 6, 5, 4, 3].map { 1_700_000_000 + $0 * 60 }
    #expect(fixture.backups.names.map(\.time.secondsSince1970) == expected)
    #expect(fixture.names(directory).count == 13)
  }

  /// By whatever path they are named, and however old they are. They count.
  @Test func namedFilesAreNotRemoved() throws {
    let fixture = Fixture()
    try fixture.makeVault()
    for time in 1...14 {
      try fixture.change()
      _ = try fixture.backup(at: Int64(time))
    }
    let directory = fixture.backups
    let oldest = directory.path(of: try #require(directory.names.last))
    run("ln", "-s", directory.path, "\(fixture.directory)/link")
    let named = "\(fixture.directory)/link/\(Path.name(of: oldest))"
    #expect(directory.prune(keeping: [named, "\(fixture.directory)/missing"]).count == 4)
    #expect(directory.names.count == 10 && directory.names.last.map(directory.path(of:)) == oldest)
  }

  /// Twelve backups of a vault that nobody changes take one place of the ten.
  @Test func copiesOfOneStateTakeOnePlace() throws {
    let fixture = Fixture()
    try fixture.makeVault()
    let directory = fixture.backups
    for time in 1...3 {
      try fixture.change()
      _ = try fixture.backup(at: Int64(time))
    }
    for time in 4...15 { directory.prune(keeping: [try #require(try fixture.backup(at: Int64(time)).path)]) }
    #expect(directory.names.map(\.generation) == [5, 4, 3])
    #expect(directory.names.first?.time == Self.time(15))
    // One of them is damaged, maybe by the disk: it replaces none.
    let newest = directory.path(of: try #require(directory.names.first))
    run("sh", "-c", "printf X | dd of=\(newest) bs=1 seek=$(($(stat -c %s \(newest)) - 1)) conv=notrunc 2>/dev/null")
    let sound = try #require(try fixture.backup(at: 20).path)
    #expect(directory.prune(keeping: [sound]).isEmpty && directory.names.map(\.generation) == [5, 5, 4, 3])
    // A backup of before a repair has its report beside it.
    run("cp", sound, directory.path(of: BackupName(time: Self.time(21), generation: 5, occasion: .repair)))
    #expect(directory.prune(keeping: []).isEmpty)
  }

  /// The vault that was lost has no other copies; the next one at its path makes backups, too.
  @Test func backupsOfAnotherVaultStay() throws {
    let lost = Fixture()
    try lost.makeVault()
    let old = try #require(try lost.backup().path)
    let fixture = Fixture()
    try fixture.makeVault()
    let directory = fixture.backups
    _ = try fixture.backup(at: 1)
    run("cp", old, directory.path(of: BackupName(time: Self.time(0), generation: 2)))
    for time in 2...14 {
      try fixture.change()
      directory.prune(keeping: [try #require(try fixture.backup(at: Int64(time)).path)])
    }
    #expect(directory.names.count == 11 && directory.names.last?.time == Self.time(0))
  }

  /// A person looks for a state, and restores one backup after the other.
  @Test func backupsBeforeRestoresRemoveNoOthers() throws {
    let fixture = Fixture()
    try fixture.makeVault()
    let directory = fixture.backups
    for time in 1...10 {
      try fixture.change()
      _ = try fixture.backup(at: Int64(time))
    }
    let newest = directory.path(of: try #require(directory.names.first))
    for time in 1...12 {
      let name = BackupName(time: Self.time(100 + Int64(time)), generation: UInt64(20 + time), occasion: .restore)
      run("cp", newest, directory.path(of: name))
      directory.prune(keeping: [directory.path(of: name)])
    }
    #expect(directory.names.count { $0.occasion == .ordinary } == 10)
    #expect(directory.names.count { $0.occasion == .restore } == 10)
  }

  /// Their times are of a day when the clock was wrong, in the future or in the past.
  @Test(arguments: [86_400 * 1500, -86_400 * 1500]) func aWrongClockCostsNoBackup(wrong: Int64) throws {
    let fixture = Fixture()
    try fixture.makeVault()
    let directory = fixture.backups
    let old = try #require(try fixture.backup().path)
    for second in 1...12 {
      let path = directory.path(of: BackupName(time: Self.time(wrong + Int64(second)), generation: 2))
      run("cp", old, path)
      // Where SQLite keeps the number of its version: else the files were copies of one state.
      run("sh", "-c", "printf '\\\(String(second, radix: 8))' | dd of=\(path) bs=1 seek=99 conv=notrunc 2>/dev/null")
    }
    for number in 1...6 {
      try fixture.change()
      let backup = try fixture.backup(at: Int64(number) * 60)
      directory.prune(keeping: [try #require(backup.path)])
    }
    let generations = directory.names.map(\.generation).sorted(by: >)
    #expect(generations.count == 10 && generations.prefix(5) == [8, 7, 6, 5, 4], "\(directory.names.map(\.text))")
    guard wrong > 0 else { return }
    #expect(throws: LifecycleError(.backupOrderUnclear)) { try directory.newest(forVaultAt: fixture.path) }
    #expect(directory.newestUsable(at: Self.time(0))?.generation == 8)
  }

  @Test func aFileThatIsNoVaultIsPassedOver() throws {
    let fixture = Fixture()
    try fixture.makeVault()
    let directory = fixture.backups
    let backup = try #require(try fixture.backup().path)
    func name(_ number: Int64) -> String { directory.path(of: BackupName(time: Self.time(number), generation: 9)) }
    run("sh", "-c", "head -c 4096 \(backup) >\(name(1)); mkfifo \(name(2)); ln -s \(backup) \(name(3)); mkdir \(name(4))")
    #expect(try directory.newest(forVaultAt: fixture.path) == backup)
    #expect(directory.newestUsable(at: Self.time(4)).map(directory.path(of:)) == backup)
    // One of another vault.
    let other = Fixture()
    try other.makeVault()
    try run("cp", #require(other.backup().path), name(5))
    #expect(try directory.newest(forVaultAt: fixture.path) == backup)
  }

  private static func time(_ seconds: Int64) -> Timestamp { Timestamp(secondsSince1970: 1_700_000_000 + seconds) }

  @Test func theStateBeforeARestoreIsNotTheNewestBackup() throws {
    let fixture = Fixture()
    try fixture.makeVault()
    let store = try FileStore(at: fixture.path)
    _ = try Backup.make(of: store, at: .directory(fixture.backups, .restore), now: .test, step: { _, _ in })
    #expect(throws: LifecycleError(.onlyReplacedStates)) { try fixture.backups.newest(forVaultAt: fixture.path) }
    #expect(fixture.backups.names.count == 1)
    let backup = try fixture.backup(at: -60)
    _ = try Backup.make(of: store, at: .directory(fixture.backups, .repair), now: .test, step: { _, _ in })
    #expect(try fixture.backups.newest(forVaultAt: fixture.path) == backup.path)
  }

  @Test func twoBackupsOfOneSecondAreBothKept() throws {
    let fixture = Fixture()
    try fixture.makeVault()
    #expect(try fixture.backup().path != fixture.backup().path)
    #expect(fixture.backups.names.count == 2)
  }

  @Test func anErrorOnTheWayLeavesNothing() throws {
    struct Own: Error {}
    let fixture = Fixture()
    try fixture.makeVault(items: 2000)
    #expect(throws: Own.self) { _ = try fixture.backup { done, _ in if done > 0 { throw Own() } } }
    let store = try FileStore(at: fixture.path)
    for target in [Backup.Target.directory(fixture.backups), .file("\(fixture.directory)/copy")] {
      #expect(throws: Own.self) {
        _ = try Backup.make(of: store, at: target, now: .test, step: { _, _ in }, check: { _ in throw Own() })
      }
    }
    #expect(fixture.names(fixture.backups.path) == [])
    #expect(!fixture.names().contains { $0.contains("copy") })
  }

  /// Files of killed processes are removed, the file of a living one stays.
  @Test func leftoversAreThoseOfDeadProcesses() throws {
    let fixture = Fixture()
    try fixture.makeVault()
    _ = try fixture.backup()
    let directory = fixture.backups
    let dead = "\(directory.path)/.coffer-backup.0123456789abcdef.new"
    run("cp", fixture.path, dead)
    run("cp", fixture.path, "\(directory.path)/.other.0123456789abcdef.new")
    let living = try UnnamedVault(for: "\(directory.path)/backup")
    #expect(directory.leftovers(remove: false) == [dead])
    _ = try fixture.backup(at: 60)
    #expect(try CofferFiles.Files<StorageError>.status(at: dead) == nil)
    #expect(try CofferFiles.Files<StorageError>.status(at: living.path) != nil)
    #expect(fixture.names(directory.path).contains(".other.0123456789abcdef.new"))
  }

  @Test(arguments: ["UPDATE rec SET a=zeroblob(2000000)", "UPDATE rec SET m=x'00'", "UPDATE node SET b='text'"])
  func rowsThatNoReaderAcceptsAreNotCopied(damage: String) throws {
    let fixture = Fixture()
    try fixture.makeVault()
    run("sqlite3", fixture.path, damage)
    #expect(throws: StorageError(.columnMismatch)) { _ = try fixture.backup() }
    #expect(fixture.names(fixture.backups.path) == [])
  }

  /// They are in the header's number, and not in the file.
  @Test func aVaultThatLacksRecordsIsNotABackup() throws {
    let fixture = Fixture()
    try fixture.makeVault(items: 20)
    run("sqlite3", fixture.path, "DELETE FROM rec WHERE id IN (SELECT id FROM rec LIMIT 1)")
    #expect(throws: LifecycleError(.recordsMissing)) { _ = try fixture.backup() }
    #expect(fixture.names(fixture.backups.path) == [])
    // As it is, before it is repaired.
    let target = Backup.Target.directory(fixture.backups, .repair)
    let backup = try Backup.make(
      of: FileStore(at: fixture.path), at: target, now: .test, acceptsDamage: true, step: { _, _ in })
    #expect(run("sqlite3", try #require(backup.path), "SELECT count(*) FROM rec") == ["20"])
  }

  @Test(arguments: ["vault.coffer-wal", "vault.coffer-journal", "vault.coffer-shm", "./vault.coffer.lock", "vault.coffer.draft"])
  func aNameThatTheVaultHasForItselfIsRefused(name: String) throws {
    let fixture = Fixture()
    try fixture.makeVault()
    #expect(throws: LifecycleError(.nameOfTheVaults)) {
      let target = Backup.Target.file("\(fixture.directory)/\(name)")
      _ = try Backup.make(of: FileStore(at: fixture.path), at: target, now: .test, step: { _, _ in })
    }
    #expect(!fixture.names().contains("vault.coffer-journal"))
  }

  /// 15 levels of pages, each of which leads to the next one by all of its cells: to count the rows takes for ever.
  @Test func aTreeOfABillionPagesIsRefused() async {
    await #expect(processExitsWith: .success) {
      alarm(600)
      let fixture = Fixture()
      try fixture.makeVault(items: 300)
      run(
        "python3", "-c",
        """
        import sqlite3, sys
        path = sys.argv[1]
        root = sqlite3.connect(path).execute("SELECT rootpage FROM sqlite_schema WHERE name='rec'").fetchone()[0]
        data = bytearray(open(path, 'rb').read())
        pages = [bytes(data[at:at + 4096]) for at in range(4096, len(data), 4096)]
        top = max((page for page in pages if page[0] == 2), key=lambda page: page[3:5])
        count = int.from_bytes(top[3:5], 'big')
        assert count > 3
        cells = [int.from_bytes(top[12 + 2 * i:14 + 2 * i], 'big') for i in range(count)]
        def leading(to):
            page = bytearray(top)
            for cell in cells: page[cell:cell + 4] = to.to_bytes(4, 'big')
            page[8:12] = to.to_bytes(4, 'big')
            return page
        end = len(data) // 4096
        data[(root - 1) * 4096:root * 4096] = leading(end + 1)
        for level in range(1, 15): data += leading(end + level + 1)
        data += top
        data[28:32] = (len(data) // 4096).to_bytes(4, 'big')
        open(path, 'wb').write(data)
        """, fixture.path)
      #expect(throws: StorageError(.storageDamaged)) { _ = try fixture.backup() }
      #expect(fixture.names(fixture.backups.path) == [])
    }
  }

  /// Pages that lead back to earlier ones: a copy of them would have no end.
  @Test func aTableWithoutAnEndIsRefused() throws {
    let fixture = Fixture()
    try fixture.makeVault(items: 100)
    run(
      "python3", "-c",
      """
      import sqlite3, sys
      path = sys.argv[1]
      root = sqlite3.connect(path).execute("SELECT rootpage FROM sqlite_schema WHERE name='rec'").fetchone()[0]
      data = bytearray(open(path, 'rb').read())
      page = (root - 1) * 4096
      assert data[page] == 2
      count = int.from_bytes(data[page + 3:page + 5], 'big')
      cells = [int.from_bytes(data[page + 12 + 2 * i:page + 14 + 2 * i], 'big') for i in range(count)]
      # Every child is the first one.
      first = data[page + cells[0]:page + cells[0] + 4]
      for cell in cells: data[page + cell:page + cell + 4] = first
      data[page + 8:page + 12] = first
      open(path, 'wb').write(data)
      """, fixture.path)
    #expect(throws: StorageError(.storageDamaged)) { _ = try fixture.backup() }
    #expect(fixture.names(fixture.backups.path) == [])
  }
}

/// A backup while others write is one commit.
@Suite(.serialized) struct BackupBesideWritersTests {
  @Test func fourWritersAndEachBackupProves() throws {
    let fixture = Fixture()
    try fixture.makeVault(items: 300)
    let writers = (1...4).map { seed in
      Child(["/bin/sh", "-c", #"exec "$0" write "$1" "$2" >/dev/null"#, program("VaultProbe"), fixture.path, "\(seed)"])
    }
    var generations: [UInt64] = []
    var paths: [String] = []
    let store = try FileStore(at: fixture.path)
    // Writers start within some time, and then between two backups there are always some commits.
    for time in 0..<3000 where generations.count < 12 {
      let path = "\(fixture.directory)/copy-\(time)"
      let backup = try Backup.make(of: store, at: .file(path), now: .test, step: { _, _ in })
      guard backup.status.generation > generations.last ?? 2 else {
        run("rm", path)
        usleep(20_000)
        continue
      }
      generations.append(backup.status.generation)
      paths.append(path)
      let copy = try fixture.open(path)
      let result = try copy.verify()
      #expect(result.isSound, "\(result.problems)")
      #expect(try copy.generation() == backup.status.generation)
    }
    for writer in writers { writer.signal(SIGKILL) }
    #expect(generations.count == 12, "the writers have not written")
    // The control: rows of two commits in one file do not prove.
    run("sqlite3", paths[0], "ATTACH '\(paths[11])' AS late; DELETE FROM rec; INSERT INTO rec SELECT * FROM late.rec")
    #expect(try !fixture.open(paths[0]).verify().isSound)
  }
}
