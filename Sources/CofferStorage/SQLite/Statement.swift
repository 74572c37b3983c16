import CSQLite

/// One prepared statement. Not thread-safe.
@safe final class Statement {
  private let handle: OpaquePointer
  private unowned let connection: Connection

  fileprivate init(_ handle: OpaquePointer, _ connection: Connection) {
    unsafe self.handle = handle
    self.connection = connection
  }

  deinit {
    unsafe sqlite3_finalize(handle)
  }

  /// - Throws: what the preparation of the statement says: it reads the schema where that has not been read.
  convenience init(_ sql: String, on connection: Connection) throws(StorageError) {
    var handle: OpaquePointer?
    let persistent = UInt32(SQLITE_PREPARE_PERSISTENT)
    try connection.check(unsafe sqlite3_prepare_v3(connection.handle, sql, -1, persistent, &handle, nil))
    guard let handle = unsafe handle else { preconditionFailure("empty statement") }
    unsafe self.init(handle, connection)
  }

  func bind(_ index: Int32, _ value: Int64) throws(StorageError) {
    try connection.check(unsafe sqlite3_bind_int64(handle, index, value))
  }

  func bind(_ index: Int32, _ bytes: [UInt8]) throws(StorageError) {
    let result = unsafe bytes.withUnsafeBytes { buffer in
      unsafe coffer_sqlite3_bind_blob(handle, index, buffer.baseAddress, Int32(clamping: buffer.count))
    }
    try connection.check(result)
  }

  /// Binds a column of the present row of another statement, after its type and length were found to be what the format says.
  /// - Throws: `columnMismatch`.
  func bind(
    _ index: Int32, column: Int32, of row: Statement, _ length: ClosedRange<Int>, _ name: StaticString
  ) throws(StorageError) {
    guard unsafe sqlite3_column_type(row.handle, column) == SQLITE_BLOB else {
      throw StorageError(.columnMismatch, "\(name) has another type or length")
    }
    let start = unsafe sqlite3_column_blob(row.handle, column)
    let count = Int(unsafe sqlite3_column_bytes(row.handle, column))
    guard length.contains(count) else { throw StorageError(.columnMismatch, "\(name) has \(count) bytes") }
    try connection.check(unsafe coffer_sqlite3_bind_blob(handle, index, start, Int32(count)))
  }

  /// Binds a column of the present row of another statement, whatever its type and length.
  func bind(_ index: Int32, anyColumn column: Int32, of row: Statement) throws(StorageError) {
    try connection.check(unsafe sqlite3_bind_value(handle, index, sqlite3_column_value(row.handle, column)))
  }

  /// Whether there is a row.
  func step() throws(StorageError) -> Bool {
    let result = unsafe sqlite3_step(handle)
    if result == SQLITE_ROW { return true }
    if result == SQLITE_DONE { return false }
    throw connection.error(result)
  }

  /// Makes the statement usable again. The last step has already thrown its error.
  func reset() {
    unsafe sqlite3_reset(handle)
    unsafe sqlite3_clear_bindings(handle)
  }

  /// The bytes of a column, copied after their type and length were found to be what the format says.
  /// - Throws: `columnMismatch`.
  func bytes(_ column: Int32, _ length: ClosedRange<Int>, _ name: StaticString) throws(StorageError) -> [UInt8] {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_BLOB else {
      throw StorageError(.columnMismatch, "\(name) has another type or length")
    }
    // The order matters: column_blob first may convert, column_bytes after it is the length of what it returned.
    let start = unsafe sqlite3_column_blob(handle, column)
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    guard length.contains(count) else { throw StorageError(.columnMismatch, "\(name) has \(count) bytes") }
    guard count > 0 else { return [] }
    guard let start = unsafe start else { throw StorageError(.outOfMemory) }
    return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  }

  /// The length of a blob, where the statement asks for no more of it.
  /// - Throws: `columnMismatch`.
  func count(_ column: Int32, _ length: ClosedRange<Int>, _ name: StaticString) throws(StorageError) -> Int {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_INTEGER else {
      throw StorageError(.columnMismatch, "\(name) is not a blob")
    }
    let count = Int(unsafe sqlite3_column_int64(handle, column))
    guard length.contains(count) else { throw StorageError(.columnMismatch, "\(name) has \(count) bytes") }
    return count
  }

  /// - Throws: `columnMismatch`.
  func integer(_ column: Int32) throws(StorageError) -> Int64 {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_INTEGER else { throw StorageError(.columnMismatch) }
    return unsafe sqlite3_column_int64(handle, column)
  }

  /// Nil for anything but text of at most `limit` bytes.
  func text(_ column: Int32, limit: Int) -> [UInt8]? {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_TEXT, let start = unsafe sqlite3_column_text(handle, column)
    else { return nil }
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    return count > limit ? nil : unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
  }
}
