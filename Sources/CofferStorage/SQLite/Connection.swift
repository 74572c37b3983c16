import CSQLite
internal import CofferFiles

/// One connection to one database file, hardened before it has read anything. Not thread-safe. Section 3.3 of FORMAT.md.
///
/// The file is untrusted. Triggers, views, extensions and functions that a schema may name are switched off, because a planted
/// trigger made an opener without these settings acknowledge writes and lose them.
@safe final class Connection {
  let handle: OpaquePointer
  private var idle: [SQL: [Statement]] = [:]
  /// An fsync failed on this connection: nothing more may be written through it, not even by a checkpoint.
  private(set) var isPoisoned = false
  /// The number of pages in the write-ahead log after the last commit.
  var logPages: Int32 = 0

  enum Access {
    case readWrite
    /// A file that no process changes, which the caller must make sure of: no locks, no log, no files beside it.
    case unchanging
    /// For a file that is being made.
    case create
  }

  /// `path` must be absolute, with a resolved directory.
  /// - Throws: `noVault`, `accessDenied`, `readOnly`, `symbolicLink`, `descriptorsExhausted`, `outOfMemory`, `io`.
  init(_ path: String, _ access: Access) throws(StorageError) {
    var flags = SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE
    var name = path
    switch access {
    case .readWrite: flags |= SQLITE_OPEN_READWRITE
    case .create: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    case .unchanging:
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      name = "file:\(Self.escaped(path))?immutable=1"
    }
    var handle: OpaquePointer?
    guard Self.fileSystem == SQLITE_OK else { throw StorageError(.io, "SQLite has no access to files") }
    let result = unsafe sqlite3_open_v2(name, &handle, flags, "coffer")
    guard let opened = unsafe handle else { throw StorageError(.outOfMemory) }
    unsafe self.handle = opened
    do {
      try check(result)
      try harden()
    } catch {
      throw StorageError(error.code, "\(path): \(error.detail)")
    }
    // This takes the place of SQLite's own checkpoints after a commit: they would keep a failed fsync to themselves, and repeat
    // it.
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe sqlite3_wal_hook(
      opened,
      { context, _, _, pages in
        guard let context = unsafe context else { return SQLITE_OK }
        unsafe Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().logPages = pages
        return SQLITE_OK
      }, context)
  }

  deinit {
    // Statements first: a connection with statements does not close.
    idle = [:]
    if isPoisoned {
      var on: Int32 = 0
      _ = unsafe coffer_sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, &on)
    }
    // The last connection to close copies the log into the file and removes the log. If it fails, the log stays, which is
    // durable.
    unsafe sqlite3_close(handle)
  }

  /// Registered once.
  private static let fileSystem = coffer_sqlite3_register_file_system()

  private func harden() throws(StorageError) {
    let switches: [(verb: Int32, on: Int32)] = [
      (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
      (SQLITE_DBCONFIG_ENABLE_VIEW, 0), (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
      (SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0), (SQLITE_DBCONFIG_DQS_DML, 0), (SQLITE_DBCONFIG_DQS_DDL, 0),
    ]
    for (verb, on) in switches {
      var now: Int32 = -1
      try check(unsafe coffer_sqlite3_db_config(handle, verb, on, &now))
      guard now == on else { throw StorageError(.io, "SQLite does not switch \(verb) to \(on)") }
    }
    // No row is longer than two full fields; a longer one in the file is refused before memory is taken for it.
    limitRows(to: Limits.rowByteCount)
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0)
    for setting in [SQL.checkCells, .noMapping, .temporaryInMemory, .overwriteDeleted] { try run(setting) }
  }

  /// For what reads the schema, which takes some hundred steps. In a file that is made so, SQLite would read it for ever: see
  /// `StoredRows`.
  func bounded<Result>(_ body: () throws -> Result) throws -> Result {
    unsafe sqlite3_progress_handler(handle, 100_000, { _ in 1 }, nil)
    defer { unsafe sqlite3_progress_handler(handle, 0, nil, nil) }
    return try body()
  }

  func limitRows(to byteCount: Int) {
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(clamping: byteCount))
  }

  /// How long a statement waits for other connections; 0 milliseconds would be "not at all".
  func wait(until deadline: Deadline) {
    unsafe sqlite3_busy_timeout(handle, max(1, deadline.left))
  }

  /// Lends a prepared statement; it is reset on all paths. One that is in use further up the stack is not lent twice.
  func with<Result>(_ sql: SQL, _ body: (Statement) throws -> Result) throws -> Result {
    let statement = try idle[sql]?.popLast() ?? Statement(sql.text, on: self)
    defer {
      statement.reset()
      idle[sql, default: []].append(statement)
    }
    return try body(statement)
  }

  /// Runs a statement to its end, rows aside.
  func run(_ sql: SQL) throws(StorageError) {
    let taken = idle[sql]?.popLast()
    let statement = if let taken { taken } else { try Statement(sql.text, on: self) }
    defer {
      statement.reset()
      idle[sql, default: []].append(statement)
    }
    while try statement.step() {}
  }

  /// For the statements that make a new file.
  func run(_ sql: String) throws(StorageError) {
    let statement = try Statement(sql, on: self)
    while try statement.step() {}
  }

  /// The single integer, or the single text, that a pragma answers with.
  func integer(_ sql: SQL) throws -> Int64 {
    try with(sql) { statement in
      guard try statement.step() else { throw StorageError(.storageDamaged, sql.rawValue) }
      return try statement.integer(0)
    }
  }

  func text(_ sql: SQL) throws -> String {
    try with(sql) { statement in
      guard try statement.step(), let text = statement.text(0, limit: 64) else {
        throw StorageError(.storageDamaged, sql.rawValue)
      }
      while try statement.step() {}
      return String(decoding: text, as: UTF8.self)
    }
  }

  /// - Throws: `full` and `busy`, after which nothing has been changed; `inDoubt`.
  func commit() throws(StorageError) { try decide(.commit) }

  /// Writes each page of the file anew. Rests of former rows in the gaps of pages are gone then: `secure_delete` overwrites
  /// a row that is removed, but not the copy that stays behind when rows move within their pages.
  ///
  /// Takes the size of the file once more in the directory for temporary files, and again in the log.
  /// - Throws: As `commit`.
  func rebuild() throws(StorageError) {
    // SQLite attaches the new pages as a database of their own.
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1)
    defer { unsafe sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0) }
    try run(.temporaryInFile)
    defer { try? run(.temporaryInMemory) }
    try decide(.rebuild)
  }

  private func decide(_ statement: SQL) throws(StorageError) {
    do {
      try run(statement)
    } catch {
      endWithoutChange()
      // Without room nothing was acknowledged, and what lies in the log has no end mark; a waiting reader kept us from beginning.
      // All else may have left the end mark, or the changed pages, where the next one to open finds them.
      if error.code == .full || error.code == .busy { throw error }
      poison()
      throw StorageError(.inDoubt, error.detail)
    }
  }

  /// Ends the transaction, if SQLite has not done so by itself. If the rollback fails, the next connection that opens the file
  /// does it.
  func endWithoutChange() {
    guard isInTransaction else { return }
    do { try run(.rollback) } catch {
      if isInTransaction { poison() }
    }
  }

  private var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// How many rows the last statement wrote.
  var changes: Int64 { unsafe sqlite3_changes64(handle) }

  func check(_ result: Int32) throws(StorageError) {
    guard result == SQLITE_OK else { throw error(result) }
  }

  func error(_ result: Int32) -> StorageError {
    if StorageError.isFailedSync(result) { isPoisoned = true }
    let message = unsafe String(cString: sqlite3_errmsg(handle))
    let kind = result & 0xFF
    var number = kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN ? unsafe sqlite3_system_errno(handle) : 0
    // Calls after the failed write may have overwritten errno. The files keep theirs.
    if result == SQLITE_IOERR | (3 << 8), let kept = errnoOfFailedWrite { number = kept }
    return StorageError(sqlite: result, errno: number, message)
  }

  /// No further use: what was to be written may be lost, and a later fsync would not say so.
  func poison() { isPoisoned = true }

  /// As the path of a URI: the rest of the name must not be taken for options.
  private static func escaped(_ path: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    let bytes = path.utf8.flatMap { byte -> [UInt8] in
      switch byte {
      case UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): [byte]
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"): [byte]
      case UInt8(ascii: "a")...UInt8(ascii: "z"): [byte]
      default: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
