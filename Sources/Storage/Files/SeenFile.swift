/// What the file of an open vault was when it was last seen.
///
/// SQLite works on its descriptor and its log, and does not look at the file between two checkpoints: commits into a file that had
/// been emptied were acknowledged, and lost. So each transaction compares the file with this before it uses it, and each commit
/// again before it is acknowledged: each time one lstat(2) and one read of 100 bytes.
struct SeenFile {
  private let location: Location
  private let file: FileStatus
  /// In bytes, seen in a transaction. No writer shortens the file: nothing vacuums it.
  private var size: Int64 = 0
  /// Whether the file was marked as a draft when it was opened, beside a log: a conversion that was killed after its commit has left the
  /// vault in the log. SQLite says which of the two it is.
  var isConvertedInLog = false
  /// The log that this store has written.
  private var log: FileStatus?

  init(_ file: FileStatus, at location: Location) {
    self.file = file
    self.location = location
  }

  /// - Returns: The file as it is now.
  /// - Throws: `LostFile`; `StorageError`: `io` and what else keeps it from being looked at, `newerFormat`.
  func check(_ connection: Connection) throws -> FileStatus {
    guard let now = try FileStatus.at(location.path) else { throw LostFile(.replaced, "\(location.path) was removed") }
    guard now.isSameFile(as: file) else { throw LostFile(.replaced, "another file is at \(location.path)") }
    guard now.size >= size else {
      throw LostFile(.truncated, "\(location.path) has \(now.size) bytes, and had \(size)")
    }
    do {
      try checkStart(connection)
    } catch {
      guard error.code == .notAVault || error.code == .storageDamaged else { throw error }
      throw LostFile(.truncated, "\(location.path) was overwritten: \(error.detail)")
    }
    return now
  }

  /// The first bytes of the file, before SQLite is asked to understand them.
  func checkStart(_ connection: Connection) throws(StorageError) {
    let start = try connection.fileBytes(100)
    try Container.check(start: start, for: isConvertedInLog && Container.isDraft(start) ? Container.draft : Container.program)
  }

  /// Within a transaction: outside, the file may be longer until another process's transaction is rolled back.
  /// - Parameter seen: What `check` returned before the transaction had its lock.
  mutating func remember(_ seen: FileStatus) throws(StorageError) {
    if seen.size > size { size = try FileStatus.at(location.path)?.size ?? 0 }
  }

  /// After a commit into the log. While a connection is open nothing removes the log, and each commit of the next process to open
  /// the vault would go into another one.
  /// - Throws: `LostFile`; `StorageError` if it cannot be looked at.
  mutating func checkLog() throws {
    guard let now = try FileStatus.at(location.log), now.size > 0, log.map({ now.isSameFile(as: $0) }) ?? true else {
      throw LostFile(.replaced, "\(location.log) was removed")
    }
    log = now
  }

  /// Whether another file is in the vault's place, beside the log that this store has written: it would be played into that file.
  var leavesLogBesideAnother: Bool {
    guard let log, let now = try? FileStatus.at(location.path), !now.isSameFile(as: file),
      let besides = try? FileStatus.at(location.log)
    else { return false }
    return besides.isSameFile(as: log)
  }
}

/// The file at the path is not the vault that was opened.
struct LostFile: Error {
  /// `replaced` or `truncated`.
  let reason: StorageError
  /// Whether it was noticed after the commit.
  var isCommitted = false

  init(_ code: StorageError.Code, _ detail: String) { reason = StorageError(code, detail) }
}
