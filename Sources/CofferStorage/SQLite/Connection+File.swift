import CSQLite

// The file beneath a connection, seen through SQLite's own descriptor. Opening and closing another one in this process would drop
// the locks of every connection to the same file.
extension Connection {
  enum File: Sendable {
    case database
    /// The write-ahead log, if the connection has it open: also one that was removed since.
    case log
  }

  /// Calls a method of SQLite's own file.
  private func call(_ file: File, _ body: (UnsafeMutablePointer<sqlite3_file>) -> Int32) throws(StorageError) {
    var pointer: UnsafeMutablePointer<sqlite3_file>?
    let verb = file == .database ? SQLITE_FCNTL_FILE_POINTER : SQLITE_FCNTL_JOURNAL_POINTER
    try check(unsafe withUnsafeMutablePointer(to: &pointer) { unsafe sqlite3_file_control(handle, "main", verb, $0) })
    guard let file = unsafe pointer, unsafe file.pointee.pMethods != nil else { throw StorageError(.io, "no file") }
    let result = unsafe body(file)
    guard result == SQLITE_OK else { throw StorageError(sqlite: result, errno: 0, "the file cannot be read") }
  }

  /// Bytes of the file, the first ones before SQLite was asked to understand them. Past the end of the file they are zeros.
  func fileBytes(_ count: Int, at offset: Int64 = 0) throws(StorageError) -> [UInt8] {
    try bytes(of: .database, count, at: offset)
  }

  func bytes(of file: File, _ count: Int, at offset: Int64) throws(StorageError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    unsafe try call(file) { file in
      let got = unsafe bytes.withUnsafeMutableBytes {
        unsafe file.pointee.pMethods.pointee.xRead(file, $0.baseAddress, Int32(count), offset)
      }
      // SQLite fills up a short read with zeros.
      return got == SQLITE_IOERR | (2 << 8) ? SQLITE_OK : got
    }
    return bytes
  }

  func byteCount(of file: File) throws(StorageError) -> Int64 {
    var count: sqlite3_int64 = 0
    unsafe try call(file) { unsafe $0.pointee.pMethods.pointee.xFileSize($0, &count) }
    return count
  }

  /// The header of the log's index. Only for a connection that has its log open.
  /// - Returns: nil if there is none, or a writer is changing it.
  func logIndex() throws(StorageError) -> LogIndex? {
    var frames: UInt32 = 0
    var salts = [UInt8](repeating: 0, count: 8)
    var isValid = false
    unsafe try call(.database) { file in
      isValid = unsafe coffer_sqlite3_log_index(file, &frames, &salts) != 0
      return SQLITE_OK
    }
    return isValid ? LogIndex(frames: Int64(frames), salts: salts) : nil
  }

  /// The errno that the log, the journal or the file itself last failed with.
  var errnoOfFailedWrite: Int32? {
    for verb in [SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER] {
      var pointer: UnsafeMutablePointer<sqlite3_file>?
      var number: Int32 = 0
      let result = unsafe withUnsafeMutablePointer(to: &pointer) { unsafe sqlite3_file_control(handle, "main", verb, $0) }
      guard result == SQLITE_OK, let file = unsafe pointer, let methods = unsafe file.pointee.pMethods,
        let control = unsafe methods.pointee.xFileControl,
        unsafe control(file, SQLITE_FCNTL_LAST_ERRNO, &number) == SQLITE_OK, number != 0
      else { continue }
      return number
    }
    return nil
  }

  /// Whether the path leads to another file by now, or to none. No reader would find what is written afterwards.
  func hasMoved() throws(StorageError) -> Bool {
    var moved: Int32 = 0
    let result = unsafe withUnsafeMutablePointer(to: &moved) {
      unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, $0)
    }
    try check(result)
    return moved != 0
  }

  enum Checkpoint: Sendable {
    /// Brings in what no reader still needs, without waiting.
    case passive
    /// And empties the log.
    case truncate
  }

  /// Whether the log is empty, or wholly in the file, afterwards.
  func checkpoint(_ mode: Checkpoint) throws(StorageError) -> Bool {
    let verb = mode == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
    var log: Int32 = 0
    var done: Int32 = 0
    let result = unsafe sqlite3_wal_checkpoint_v2(handle, "main", verb, &log, &done)
    if result & 0xFF == SQLITE_BUSY { return false }
    try check(result)
    logPages = 0
    return log == done
  }
}
