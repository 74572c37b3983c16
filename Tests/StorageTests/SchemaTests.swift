import CofferStorage
import SecretMemory
import Testing
import VaultCore

@Suite struct SchemaTests {
  private static let node = "CREATE TABLE node(p BLOB PRIMARY KEY,b BLOB NOT NULL) WITHOUT ROWID"

  @Test(arguments: [
    "CREATE TRIGGER t BEFORE INSERT ON rec BEGIN SELECT RAISE(IGNORE); END",
    "CREATE VIEW v AS SELECT * FROM rec",
    "CREATE TABLE more(x)",
    "CREATE VIRTUAL TABLE more USING fts5(x)",
    "CREATE INDEX more ON rec(m)",
    "ALTER TABLE hdr ADD COLUMN w",
    "CREATE INDEX rec_grp ON rec(grp)",
    "ANALYZE",
    edit("BLOB NOT NULL) WITHOUT", "BLOB NOT  NULL) WITHOUT"),
    edit("CREATE TABLE node", "create TABLE node"),
    edit("WITHOUT ROWID", "WITHOUT ROWIX"),
    edit("PRIMARY KEY", "PRIMARY \u{212A}EY"),
    "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql=CAST(sql AS BLOB) WHERE name='node'",
    "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET tbl_name='rec' WHERE name='node'",
  ])
  func anAlteredSchemaIsRefused(sql: String) throws {
    let fixture = try Fixture()
    fixture.raw(sql)
    let failure = code { _ = try FileStore(at: fixture.path) }
    // Some of these SQLite itself cannot read any more.
    #expect(failure == .schemaAltered)
  }

  /// Changes the text of the schema without SQLite having a say in it.
  private static func edit(_ old: String, _ new: String) -> String {
    "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql=replace(sql,'\(old)','\(new)') WHERE name='node'"
  }

  @Test(arguments: [
    "CREATE TRIGGER t BEFORE INSERT ON rec BEGIN SELECT RAISE(IGNORE); END", "CREATE TABLE more(x)", "ANALYZE",
  ])
  func aSchemaAlteredWhileTheVaultIsOpenIsRefused(sql: String) throws {
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path)
    #expect(try store.recordCount() == 3)
    fixture.raw(sql)
    #expect(code { _ = try store.recordCount() } == .schemaAltered)
    #expect(code { try store.commit { _ in Fixture.adding(4) } } == .schemaAltered)
    // Refused for as long as it lasts, not only once.
    #expect(code { _ = try store.recordCount() } == .schemaAltered)
  }

  @Test func anUntouchedSchemaWithAnotherCookieIsAccepted() throws {
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path)
    #expect(try store.recordCount() == 3)
    fixture.raw("CREATE TABLE more(x); DROP TABLE more")
    #expect(try store.recordCount() == 3)
  }

  @Test func anotherProgramsFileIsNoVault() throws {
    let fixture = try Fixture()
    fixture.raw("PRAGMA application_id=1")
    #expect(code { _ = try FileStore(at: fixture.path) } == .notAVault)
  }

  @Test(arguments: [("0", .notAVault), ("2", .newerFormat), ("-1", .newerFormat)] as [(String, StorageError.Code)])
  func anotherFormatVersion(version: String, expected: StorageError.Code) throws {
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path)
    fixture.raw("PRAGMA user_version=\(version)")
    // An open store had seen a vault: without a version its file was overwritten.
    #expect(code { _ = try store.recordCount() } == (expected == .notAVault ? .truncated : expected))
    #expect(code { _ = try FileStore(at: fixture.path) } == expected)
  }

  @Test func markInTheLogCountsAsInTheFile() throws {
    // The file says 1, and the log says 2, as after a newer version that was killed.
    let fixture = try Fixture()
    let store = try FileStore(at: fixture.path)
    try store.commit { _ in Fixture.adding(4) }
    fixture.raw("PRAGMA user_version=2")
    #expect(fixture.names.contains("vault.coffer-wal"))
    #expect(code { _ = try FileStore(at: fixture.path) } == .newerFormat)
  }

  @Test(arguments: [
    "UPDATE hdr SET v='text' WHERE k=0", "UPDATE hdr SET v=7 WHERE k=0", "UPDATE hdr SET v=zeroblob(257) WHERE k=0",
    "UPDATE hdr SET v=zeroblob(4257) WHERE k=1", "UPDATE node SET b=zeroblob(196609)", "UPDATE node SET b=1.5",
    "UPDATE rec SET m=zeroblob(15)", "UPDATE rec SET grp=zeroblob(17)", "UPDATE rec SET a='text'", "UPDATE rec SET s=7",
    "UPDATE rec SET s=zeroblob(1052713)", "UPDATE rec SET d=zeroblob(31)", "UPDATE rec SET d=zeroblob(33)",
    "UPDATE rec SET d='text'", "UPDATE rec SET a=zeroblob(100000000)",
    "INSERT INTO rec SELECT zeroblob(17),grp,m,a,d,s FROM rec LIMIT 1", "INSERT INTO rec SELECT 7,grp,m,a,d,s FROM rec LIMIT 1",
    "INSERT INTO hdr WITH RECURSIVE c(x) AS (SELECT 10 UNION ALL SELECT x+1 FROM c LIMIT 300) SELECT x,x'00' FROM c",
  ])
  func aColumnOfAnotherTypeOrLength(sql: String) throws {
    let fixture = try Fixture()
    fixture.raw(sql)
    let store = try FileStore(at: fixture.path)
    #expect(throws: VaultError(.columnMismatch)) {
      try store.read { rows in
        for key in try rows.headerKeys() { _ = try rows.header(Int(key)) }
        _ = try rows.node([])
        try rows.forEachNode { _ in }
        try rows.forEachRecord(under: []) { _ = try $1.get() }
      }
    }
  }

  /// It is passed on as one that no node has, so that a verification names it, and a repair removes it.
  @Test(arguments: ["'text'", "7"]) func aNodeWhoseKeyIsNone(key: String) throws {
    let fixture = try Fixture()
    fixture.raw("INSERT INTO node VALUES(\(key),x'00')")
    let store = try FileStore(at: fixture.path)
    var lengths: [Int] = []
    try store.read { rows in try rows.forEachNode { lengths.append($0.count) } }
    #expect(lengths.contains(17) && lengths.count > 1)
  }
}
