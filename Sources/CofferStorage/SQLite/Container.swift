/// The marks and the schema of a vault of format version 1, compared byte for byte. Sections 3.1 and 3.2 of FORMAT.md.
enum Container {
  static let pageByteCount = 4096
  /// "CFV2".
  static let program: Int64 = 0x4346_5632
  static let formatVersion: Int64 = 1

  /// A row of sqlite_schema, as bytes: strings are equal in Swift where a Kelvin sign stands for a K.
  struct Object: Equatable {
    let columns: [[UInt8]]

    init(_ type: String, _ name: String, on table: String, _ sql: String) {
      columns = [type, name, table, sql].map { Array($0.utf8) }
    }

    /// Returns nil if a column is not text, or longer than any of ours.
    init?(_ row: Statement) {
      columns = (0..<4).compactMap { row.text($0, limit: 256) }
      if columns.count < 4 { return nil }
    }

    /// The statement that makes it.
    var sql: String { String(decoding: columns[3], as: UTF8.self) }
  }

  /// Ascending by name, as the comparison reads them.
  static let schema = [
    Object("table", "hdr", on: "hdr", "CREATE TABLE hdr(k INTEGER PRIMARY KEY,v BLOB NOT NULL)"),
    Object("table", "node", on: "node", "CREATE TABLE node(p BLOB PRIMARY KEY,b BLOB NOT NULL) WITHOUT ROWID"),
    Object(
      "table", "rec", on: "rec",
      """
      CREATE TABLE rec(id BLOB PRIMARY KEY,grp BLOB NOT NULL,m BLOB NOT NULL,a BLOB NOT NULL,d BLOB NOT NULL,s BLOB NOT NULL) \
      WITHOUT ROWID
      """),
  ]

  /// The first 100 bytes of the file. https://sqlite.org/fileformat.html#the_database_header
  /// - Parameter isOld: Whether a file of a format of before is expected.
  /// - Throws: `notAVault`, `migrationNeeded`, `newerFormat`, `storageDamaged`.
  static func check(start: [UInt8], isOld: Bool = false) throws(StorageError) {
    func number(_ offset: Int, _ count: Int) -> Int64 { Self.number(start, offset, count) }
    guard start.count >= 100, start[0..<16].elementsEqual(Array("SQLite format 3".utf8) + [0]) else {
      throw StorageError(.notAVault, "not an SQLite file")
    }
    guard number(16, 2) == pageByteCount else { throw StorageError(.notAVault, "an SQLite file with another page size") }
    let (program, version) = (number(68, 4), number(60, 4))
    if OldFormat.marked(program, version) != nil {
      guard isOld else { throw StorageError(.migrationNeeded) }
    } else {
      guard program == Self.program || OldFormat.all.contains(where: { $0.program == program }) else {
        throw StorageError(.notAVault, "an SQLite file of another program")
      }
      try check(formatVersion: version)
      guard program == Self.program, !isOld else { throw StorageError(.notAVault, "an SQLite file without a format of before") }
    }
    // Write and read version (journal or log); no reserved bytes; no automatic vacuum; UTF-8.
    guard 1...2 ~= start[18], 1...2 ~= start[19], start[20] == 0, number(52, 4) == 0,
      number(56, 4) == 1
    else { throw StorageError(.storageDamaged, "the file header is not one of a vault") }
  }

  /// The size of the file that its first 100 bytes claim; nil if they claim none.
  static func byteCount(start: [UInt8]) -> Int64? {
    let pages = start.count >= 100 ? number(start, 28, 4) : 0
    return pages > 0 ? pages * Int64(pageByteCount) : nil
  }

  /// The format of before by the first 100 bytes of the file.
  static func oldFormat(_ start: [UInt8]) -> OldFormat? {
    start.count >= 100 ? OldFormat.marked(number(start, 68, 4), number(start, 60, 4)) : nil
  }

  private static func number(_ start: [UInt8], _ offset: Int, _ count: Int) -> Int64 {
    start[offset..<offset + count].reduce(0) { $0 << 8 | Int64($1) }
  }

  /// - Throws: `notAVault`, `newerFormat`.
  static func check(formatVersion version: Int64) throws(StorageError) {
    // SQLite writes 0 if no version was set.
    guard version != 0 else { throw StorageError(.notAVault, "an SQLite file without a format version") }
    guard version == formatVersion else { throw StorageError(.newerFormat, "format version \(version)") }
  }

  /// The schema, within a transaction, by the first statement that reads it.
  /// - Throws: `schemaAltered`, and what reading throws.
  static func checkSchema(_ connection: Connection, _ schema: [Object] = schema) throws {
    var found: [Object] = []
    do {
      try connection.with(.schema) { statement in
        while try statement.step() {
          // One more than there may be is enough to know.
          guard found.count < schema.count else { throw StorageError(.schemaAltered, "an object too many") }
          guard let object = Object(statement) else { throw StorageError(.schemaAltered, "an object of another form") }
          found.append(object)
        }
      }
    } catch let error as StorageError where error.code == .storageDamaged && error.detail.hasPrefix("malformed database schema") {
      // SQLite parses the schema before it answers, and calls one that it cannot parse corrupt.
      throw StorageError(.schemaAltered, error.detail)
    }
    guard found == schema else { throw StorageError(.schemaAltered, "an object differs") }
  }
}
