import CSQLite

// The file beneath a connection, seen through SQLite's own descriptor. Opening and closing another one in this process would drop
// the locks of every connection to the same file.
extension Connection {
  /// Bytes of the file, the first ones before SQLite was asked to understand them.
  func fileBytes(_ count: Int, at offset: Int64 = 0) throws(StorageError) -> [UInt8] {
    var pointer: UnsafeMutablePointer<sqlite3_file>?
    let result = unsafe withUnsafeMutablePointer(to: &pointer) {
      unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, $0)
    }
    try check(result)
    guard let file = unsafe pointer, let methods = unsafe file.pointee.pMethods, let read = unsafe methods.pointee.xRead else {
      throw StorageError(.io, "no file")
    }
    var bytes = [UInt8](repeating: 0, count: count)
    let got = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, Int32(count), offset) }
    // A short read fills up with zeros, which no check lets pass.
    guard got == SQLITE_OK || got == SQLITE_IOERR | (2 << 8) else {
      throw StorageError(sqlite: got, errno: 0, "the file cannot be read")
    }
    return bytes
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

  /// Whether the path leads to another file by now, or to none: what is written from here on nobody would ever see.
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
