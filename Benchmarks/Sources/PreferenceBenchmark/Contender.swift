import Foundation
import PreferenceStore

/// A store of settings: integers with string keys.
protocol Contender: AnyObject {
  static var name: String { get }
  /// The largest number of keys for which single operations are measured. With more keys a run would take hours.
  static var largest: Int { get }

  /// Fills a store that is not open.
  static func fill(_ suite: String, _ values: [String: Int], in directory: String) throws
  init(_ suite: String, in directory: String) throws
  func get(_ key: String) -> Int
  func set(_ value: Int, _ key: String)
  /// Returns when all values are on the disk.
  func synchronize()
}

final class Coffer: Contender, @unchecked Sendable {
  static let name = "Coffer"
  static let largest = Int.max
  let defaults: PreferenceStore.UserDefaults

  static func fill(_ suite: String, _ values: [String: Int], in directory: String) throws {
    PreferenceStore.UserDefaults.standard.setPersistentDomain(values, forName: suite)
  }

  init(_ suite: String, in directory: String) throws {
    defaults = PreferenceStore.UserDefaults(suiteName: suite)!
  }
  func get(_ key: String) -> Int { defaults.integer(forKey: key) }
  func set(_ value: Int, _ key: String) { defaults.set(value, forKey: key) }
  func synchronize() { defaults.synchronize() }
}

final class FoundationDefaults: Contender, @unchecked Sendable {
  static let name = "Foundation"
  static let largest = 1000
  private let defaults: Foundation.UserDefaults

  /// Writes the file directly: the time to set the values one by one grows with the square of their number.
  static func fill(_ suite: String, _ values: [String: Int], in directory: String) throws {
    try FileManager.default.createDirectory(atPath: "\(directory)/config", withIntermediateDirectories: true)
    try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0)
      .write(to: URL(filePath: "\(directory)/config/\(suite).plist"))
  }

  init(_ suite: String, in directory: String) throws {
    defaults = Foundation.UserDefaults(suiteName: suite)!
  }
  func get(_ key: String) -> Int { defaults.integer(forKey: key) }
  func set(_ value: Int, _ key: String) { defaults.set(value, forKey: key) }
  func synchronize() { defaults.synchronize() }
}

/// One table, prepared statements, write-ahead log: an upper bound for such a design.
final class SQLiteTable: Contender, @unchecked Sendable {
  static let name = "SQLite"
  static let largest = Int.max
  private var connection: OpaquePointer?
  private var select: OpaquePointer?
  private var insert: OpaquePointer?

  static func fill(_ suite: String, _ values: [String: Int], in directory: String) throws {
    let table = try SQLiteTable(suite, in: directory)
    table.run("BEGIN")
    for (key, value) in values { table.set(value, key) }
    table.run("COMMIT")
  }

  init(_ suite: String, in directory: String) throws {
    guard sqlite3_open("\(directory)/\(suite).sqlite", &connection) == SQLITE_OK else { throw BenchmarkError(suite) }
    run("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; CREATE TABLE IF NOT EXISTS s (k TEXT PRIMARY KEY, v) WITHOUT ROWID")
    sqlite3_prepare_v2(connection, "SELECT v FROM s WHERE k = ?", -1, &select, nil)
    sqlite3_prepare_v2(connection, "INSERT OR REPLACE INTO s VALUES (?, ?)", -1, &insert, nil)
  }

  deinit {
    sqlite3_finalize(select)
    sqlite3_finalize(insert)
    sqlite3_close(connection)
  }

  func run(_ sql: String) { sqlite3_exec(connection, sql, nil, nil, nil) }

  private func bind(_ statement: OpaquePointer?, _ key: String) {
    sqlite3_bind_text(statement, 1, key, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
  }

  func get(_ key: String) -> Int {
    bind(select, key)
    defer { sqlite3_reset(select) }
    return sqlite3_step(select) == SQLITE_ROW ? Int(sqlite3_column_int64(select, 0)) : 0
  }

  func set(_ value: Int, _ key: String) {
    bind(insert, key)
    sqlite3_bind_int64(insert, 2, Int64(value))
    sqlite3_step(insert)
    sqlite3_reset(insert)
  }

  /// A commit with synchronous=FULL.
  func synchronize() {
    run("PRAGMA synchronous=FULL; BEGIN; INSERT OR REPLACE INTO s VALUES ('sync', 0); COMMIT; PRAGMA synchronous=NORMAL")
  }

}
