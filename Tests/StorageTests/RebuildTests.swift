import Children
import Glibc
import SecretMemory
import Testing
import VaultCore

@testable import CofferStorage

/// `FileStore.rebuild`, after which nothing of former rows is in the file.
@Suite(.timeLimit(.minutes(15))) struct RebuildTests {
  private static let mark: UInt8 = 0x4F

  /// Records of many lengths, all of whose bytes are `byte`.
  private static func change(_ numbers: Range<Int>, _ byte: UInt8) -> Change {
    var change = Change()
    for number in numbers {
      let (high, low) = (UInt8(number * 7919 % 251), UInt8(number % 256))
      guard let id = Identifier([0x10, high, low] + Array(repeating: UInt8(number >> 8), count: 13)) else { continue }
      let count = number * 37 % 900 + 48
      change.records[id] = SealedRecord(
        id: id, group: .zero, meta: Array(repeating: 0, count: 16), attributes: Array(repeating: byte, count: count),
        secret: Array(repeating: byte, count: count))
    }
    return change
  }

  private static func removal(_ numbers: Range<Int>) -> Change {
    var change = Change()
    for id in Self.change(numbers, 0).records.keys { change.records[id] = .some(nil) }
    return change
  }

  /// How many runs of 16 marks are in the file and its log.
  private static func rests(_ fixture: Fixture) -> Int {
    var (rests, run) = (0, 0)
    let log = fixture.names.contains("vault.coffer-wal") ? Fixture.read("\(fixture.path)-wal") : []
    for byte in fixture.read() + log {
      run = byte == mark ? run + 1 : 0
      if run == 16 { rests += 1 }
    }
    return rests
  }

  @Test(arguments: [false, true]) func ofFormerRowsNothingIsLeft(withRollbackJournal: Bool) throws {
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path, busyTimeout: .seconds(10), withRollbackJournal: withRollbackJournal)
    for start in stride(from: 0, to: 1500, by: 50) { try store.commit { _ in Self.change(start..<start + 50, Self.mark) } }
    try store.commit { _ in Self.change(0..<1500, 0x4E) }
    _ = try store.checkpoint()
    // The control: rows that have moved within their pages have left bytes behind.
    #expect(Self.rests(fixture) > 0)
    try store.rebuild()
    #expect(try store.checkpoint())
    #expect(Self.rests(fixture) == 0)
    #expect(try store.recordCount() == 1503)
  }

  @Test(arguments: [false, true]) func othersGoOnWithAShorterFile(withRollbackJournal: Bool) throws {
    let fixture = try Fixture()
    func store() throws -> FileStore {
      try FileStore(at: fixture.path, busyTimeout: .seconds(10), withRollbackJournal: withRollbackJournal)
    }
    let (store, other) = (try store(), try store())
    try store.commit { _ in Self.change(0..<1500, Self.mark) }
    _ = try store.checkpoint()
    #expect(try other.recordCount() == 1503)
    try store.commit { _ in Self.removal(0..<1400) }
    let size = fixture.read().count
    try store.rebuild()
    #expect(try store.checkpoint())
    #expect(fixture.read().count < size / 2)
    #expect(try other.recordCount() == 103)
    try other.commit { _ in Fixture.adding(4) }
    #expect(try store.recordCount() == 104)
    // The control: a file that was cut is still found.
    _ = try other.checkpoint()
    run("truncate", "-s", "\(fixture.read().count - 4096)", fixture.path)
    #expect(code { _ = try other.recordCount() } == .truncated)
  }

  /// A file that is long enough for the log to be brought in before the call returns.
  @Test func theFileIsShorterWhenTheCallReturns() throws {
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path)
    for start in stride(from: 0, to: 6000, by: 500) { try store.commit { _ in Self.change(start..<start + 500, Self.mark) } }
    try store.commit { _ in Self.removal(0..<500) }
    #expect(try store.checkpoint())
    let size = fixture.read().count
    try store.rebuild()
    #expect(fixture.read().count < size && fixture.read().count > 1000 * 4096)
    #expect(try store.recordCount() == 5503)
  }

  /// The file is shorter, and a writer was killed while it brought a longer state in: the header is of that state, and the pages that the
  /// file lacks are in the log. No page is lost.
  @Test(arguments: [true, false]) func aShorterFileThatGrowsAgainIsNotACutOne(isSeen: Bool) throws {
    let fixture = try Fixture()
    let (store, other) = (try FileStore(at: fixture.path), try FileStore(at: fixture.path))
    try store.commit { _ in Self.change(0..<1500, Self.mark) }
    _ = try store.checkpoint()
    #expect(try other.recordCount() == 1503)
    try store.commit { _ in Self.removal(0..<1400) }
    try store.rebuild()
    #expect(try store.checkpoint())
    if isSeen { #expect(try other.recordCount() == 103) }
    let size = fixture.read().count
    run(
      "strace", "-f", "-qq", "-o", "\(fixture.directory)/trace", "-P", fixture.path, "-e", "trace=pwrite64", "-e",
      "inject=pwrite64:signal=KILL:when=2", probe, "add-large", fixture.path, "200")
    #expect(fixture.read().count == size)
    #expect(try fixture.read()[28..<32].reduce(0) { $0 << 8 | Int($1) } > size / 4096 && other.recordCount() > 130)
  }

  // MARK: All else is as before

  /// The connection may attach a database, and has a file for its pages, for the time of the call alone.
  @Test func theConnectionIsAsBefore() throws {
    let fixture = try Fixture()
    let connection = try Connection(fixture.path, .readWrite)
    try connection.rebuild()
    #expect(code { try connection.run("ATTACH ':memory:' AS other") } != nil)
    let statement = try Statement("PRAGMA temp_store", on: connection)
    #expect(try statement.step() && statement.integer(0) == 2)
  }

  /// A reader keeps a file without a log from being written. Nothing is in doubt, and the store goes on.
  @Test func aReaderKeepsItFromAFileWithoutALog() throws {
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path, busyTimeout: .milliseconds(50), withRollbackJournal: true)
    try store.commit { _ in Fixture.adding(4) }
    let reader = try FileStore(at: fixture.path, busyTimeout: .seconds(10), withRollbackJournal: true)
    #expect(try reader.read { _ in code { try store.rebuild() } } == .busy)
    #expect(try store.recordCount() == 4)
    try store.rebuild()
    #expect(try store.recordCount() == 4)
  }

  /// A page is damaged. It is not known what the statement has done, so nothing more is done with the file.
  @Test func afterAFailureNothingMoreIsDone() throws {
    let fixture = try Fixture()
    do {
      let store = try FileStore(at: fixture.path)
      try store.commit { _ in Self.change(0..<200, Self.mark) }
      #expect(try store.checkpoint())
    }
    var before = fixture.read()
    let half = before.count / 2 / 4096 * 4096
    for offset in half..<half + 20 * 4096 { before[offset] = 0x79 }
    fixture.write(before)
    let store = try FileStore(at: fixture.path)
    #expect(try store.read { try $0.header(1) } != nil)
    for _ in 0..<2 { #expect(code { try store.rebuild() } == .inDoubt) }
    #expect(code { _ = try store.read { try $0.header(1) } } == .inDoubt)
    #expect(fixture.read() == before)
  }

  /// The checks before each transaction come before this one.
  @Test func aFileThatIsNoVaultAnyMoreIsNotRebuilt() throws {
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path)
    try store.commit { _ in Fixture.adding(4) }
    run("sqlite3", fixture.path, "CREATE TABLE other(x)")
    #expect(code { try store.rebuild() } == .schemaAltered)
    run("sqlite3", fixture.path, "DROP TABLE other")
    try store.rebuild()
    // A store that has lost its file does not go on with the one that is there now.
    run("sh", "-c", "cp \(fixture.path) \(fixture.path).new; mv \(fixture.path).new \(fixture.path)")
    for _ in 0..<2 { #expect(code { try store.rebuild() } == .replaced) }
  }
}
