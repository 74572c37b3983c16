import CSQLite
import Children
import Testing
import VaultCore

@testable import CofferStorage

/// The pages that SQLite reads from the file for a list.
@Suite struct SecretReadTests {
  /// The pages that `body` has SQLite fetch.
  private func pages(_ path: String, _ body: (StoredRows) throws -> Void) throws -> Int {
    let connection = try Connection(path, .readWrite)
    try connection.run(.beginRead)
    let rows = StoredRows(connection)
    defer { rows.close() }
    try body(rows)
    var (count, highest) = (Int32(0), Int32(0))
    unsafe sqlite3_db_status(connection.handle, SQLITE_DBSTATUS_CACHE_MISS, &count, &highest, 0)
    return Int(count)
  }

  @Test func listsLeaveThePagesOfSecretsAlone() throws {
    let fixture = try Fixture()
    let count = RecordHead.maximumFieldByteCount
    do {
      let store = try FileStore(at: fixture.path)
      for byte in UInt8(10)..<30 {
        var change = Change()
        change.records[Fixture.identifier(byte)] = SealedRecord(
          id: Fixture.identifier(byte), group: .zero, meta: Array(repeating: 0, count: 16),
          attributes: Array(repeating: byte, count: 3000), secret: Array(repeating: byte, count: count))
        try store.commit { _ in change }
      }
    }
    var found = 0
    let listed = try pages(fixture.path) { rows in
      try rows.forEachRecord(under: []) { _, record in
        if try record.get().secretCount == count { found += 1 }
      }
      try rows.forEachRecord(under: [0]) { _, _ in found += 100 }
    }
    #expect(found == 20)
    // A leaf page, and a page for the attributes, of each; the 5,140 pages of secrets are not among them.
    #expect(listed < 100, "\(listed) pages")
    // The control.
    let read = try pages(fixture.path) { rows throws in #expect(try rows.secret(Fixture.identifier(10))?.count == count) }
    #expect(read > count / 4096, "\(read) pages")
  }
}
