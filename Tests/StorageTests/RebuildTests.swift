import Children
import CofferStorage
import SecretMemory
import Testing
import VaultCore

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
}
