import BenchmarkKit
import CBaseline
import Glibc

/// The time of SQLite alone for a durable row: a lower bound for a store on it.
final class Baseline {
  private var database: OpaquePointer?
  private var insert: OpaquePointer?
  private let path: String
  private let row: [UInt8]

  /// - Parameter rowByteCount: The size of a row, including its key of 16 bytes.
  init(at path: String, rowByteCount: Int) throws {
    self.path = path
    row = [UInt8](repeating: 0x5A, count: rowByteCount - 16)
    remove()
    guard sqlite3_open(path, &database) == SQLITE_OK else { throw BenchmarkError("sqlite3_open: \(path)") }
    for sql in [
      "PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "CREATE TABLE t(k BLOB PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID",
    ] {
      guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else { throw BenchmarkError("sqlite3_exec: \(sql)") }
    }
    sqlite3_prepare_v2(database, "INSERT INTO t VALUES(?1,?2)", -1, &insert, nil)
  }

  deinit {
    sqlite3_finalize(insert)
    sqlite3_close(database)
    remove()
  }

  private func remove() {
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
  }

  func insertOne(_ generator: inout SplitMix) throws {
    var key = (generator.next(), generator.next())
    let status = withUnsafeBytes(of: &key) { key in
      row.withUnsafeBytes { row in
        sqlite3_bind_blob(insert, 1, key.baseAddress, 16, nil)
        sqlite3_bind_blob(insert, 2, row.baseAddress, Int32(row.count), nil)
        return sqlite3_step(insert)
      }
    }
    guard status == SQLITE_DONE else { throw BenchmarkError("sqlite3_step: \(status)") }
    sqlite3_reset(insert)
  }
}

/// SplitMix64: the same numbers in each run.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
