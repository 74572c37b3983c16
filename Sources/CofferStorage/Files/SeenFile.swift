import CofferFiles

/// The status of an open vault's file at the last look.
///
/// SQLite works on its descriptor and its log, and does not look at the file between two checkpoints: commits into a file that
/// had been emptied were acknowledged, and lost. So each transaction compares the file with this before it uses it, and each
/// commit again before it is acknowledged: each time one lstat(2) and one read of 100 bytes, and with a log two more and one of
/// 32 bytes.
struct SeenFile {
  private let location: Location
  private let file: FileStatus
  /// The most bytes that it had, seen in a transaction. Only `FileStore.rebuild` shortens the file.
  private var size: Int64 = 0
  /// Whether the file was marked as a draft when it was opened, beside a log: a conversion that was killed after its commit has
  /// left the vault in the log. SQLite says which of the two it is.
  var isConvertedInLog = false
  /// Whether the header says that changes go into a log.
  private var usesLog = false
  /// Whether the file has the content of another one.
  private var isOverwritten = false
  /// The log and its index, as the connection has them open.
  private var log: FileStatus?
  private(set) var index: FileStatus?
  /// The header that the log had when it was last seen.
  private(set) var logHeader: LogHeader?
  /// The header of the last frame that was committed when a writer last looked.
  private var lastFrame: (index: LogIndex, header: [UInt8])?

  init(_ file: FileStatus, at location: Location) {
    self.file = file
    self.location = location
  }

  /// - Parameter forWriting: Whether the frames of the log are looked at too.
  /// - Returns: The file as it is now.
  /// - Throws: `LostFile`; `StorageError`: `io` and what else keeps it from being looked at, `newerFormat`.
  mutating func check(_ connection: Connection, forWriting: Bool) throws -> FileStatus {
    guard let now = try Files.status(at: location.path) else { throw LostFile(.replaced, "\(location.path) was removed") }
    guard now.isSameFile(as: file) else { throw LostFile(.replaced, "another file is at \(location.path)") }
    guard try now.size >= size || isWhole(connection, now) else {
      throw LostFile(.truncated, "\(location.path) has \(now.size) bytes, and had \(size)")
    }
    do throws(StorageError) {
      try checkStart(connection)
    } catch {
      guard error.code == .notAVault || error.code == .storageDamaged else { throw error }
      throw LostFile(.truncated, "\(location.path) was overwritten: \(error.detail)")
    }
    // A connection with a log keeps every other one from changing that.
    guard usesLog || index == nil else {
      isOverwritten = true
      throw LostFile(.replaced, "\(location.path) was overwritten by a file without a log, such as a backup")
    }
    try checkLog(connection, forWriting)
    return now
  }

  /// Whether all pages that the header claims are there: in a file that is shorter than before, or in the log, out of which a checkpoint
  /// that is under way, or was killed, has brought the header alone.
  private func isWhole(_ connection: Connection, _ now: FileStatus) throws -> Bool {
    let page = Int64(Container.pageByteCount)
    guard let claimed = try Container.byteCount(start: connection.fileBytes(100)), claimed <= now.size || now.size % page == 0
    else { return false }
    return try LogPages.missing(of: claimed / page, in: location, byteCount: now.size) <= 0
  }

  /// As `checkStart`, for a file that was just opened.
  /// - Throws: Also `replaced`: another store has the file open with a log, which SQLite would play into it.
  mutating func checkStart(_ connection: Connection, openedBeside lock: SideLock) throws(StorageError) {
    // First, because the other store makes the file one with a log before it holds an index.
    let isHeld = lock.isAnyIndexHeld
    try checkStart(connection)
    guard usesLog || !isHeld else {
      throw StorageError(.replaced, "\(location.path) was overwritten while another process had it open, and still has")
    }
  }

  /// The first bytes of the file, before SQLite is asked to understand them.
  mutating func checkStart(_ connection: Connection) throws(StorageError) {
    let start = try connection.fileBytes(100)
    try Container.check(start: start, isOld: isConvertedInLog && Container.oldFormat(start) != nil)
    usesLog = start[19] == 2
  }

  /// Within a transaction: outside, the file may be longer until another process's transaction is rolled back.
  /// - Parameter seen: The result of `check` before the transaction had its lock.
  mutating func remember(_ seen: FileStatus) throws(StorageError) {
    if seen.size > size { size = try Files.status(at: location.path)?.size ?? 0 }
  }

  /// Within a transaction, or after it: the connection has the log and its index open from its first one on, if there is a log.
  /// - Throws: `LostFile`; `StorageError` if they cannot be looked at.
  mutating func rememberLog(_ connection: Connection) throws {
    // The header alone may be of a change of the journal that was not finished.
    guard usesLog, index == nil, try connection.text(.journalMode) == "wal" else { return }
    guard let log = try Files.status(at: location.log) else { throw LostFile(.replaced, "\(location.log) was removed") }
    guard let index = try Files.status(at: location.logIndex) else {
      throw LostFile(.replaced, "\(location.logIndex) was removed")
    }
    self.log = log
    self.index = index
    try checkLog(connection, true)
  }

  /// For a connection that is about to close its log.
  mutating func forgetLog() { (log, index, logHeader, lastFrame) = (nil, nil, nil, nil) }

  /// While a connection is open nothing removes the log or its index. Without the log, commits go into a file that has no name;
  /// without its index, two processes use two indexes for one log, and each overwrites the commits of the other.
  ///
  /// The index says how many frames of which salts are in the log: it is published after they are written, and taken back before
  /// they are overwritten or cut off. So a log that is shorter, or begins otherwise, was changed by another program.
  /// - Throws: `LostFile`; `StorageError` if they cannot be looked at.
  private mutating func checkLog(_ connection: Connection, _ forWriting: Bool) throws {
    guard let log, let index else { return }
    guard let file = try Files.status(at: location.logIndex), file.isSameFile(as: index) else {
      throw LostFile(.replaced, "\(location.logIndex) was removed or replaced while the vault was open")
    }
    // Before it is read: what is mapped past the end of a file cannot be.
    guard file.size >= index.size else { throw LostFile(.truncated, "\(location.logIndex) was cut") }
    // A writer that begins the log anew between the two looks at the index is not a loss.
    var published = try connection.logIndex()
    for _ in 0..<1000 {
      guard let file = try Files.status(at: location.log), file.isSameFile(as: log) else {
        throw LostFile(.replaced, "\(location.log) was removed or replaced while the vault was open")
      }
      guard let before = published, before.frames > 0 else { return }
      let header = LogHeader(try connection.bytes(of: .log, LogHeader.byteCount, at: 0))
      if let header, header.salts.elementsEqual(before.salts), file.size >= before.logByteCount,
        try !forWriting || hasLastFrame(connection, before)
      {
        logHeader = header
        return
      }
      published = try connection.logIndex()
      if published == before { break }
    }
    throw LostFile(.truncated, "\(location.log) was cut or overwritten while the vault was open")
  }

  /// A log that was cut within a transaction is as long as before when its frames have been written, and has a hole where others
  /// were.
  private mutating func hasLastFrame(_ connection: Connection, _ now: LogIndex) throws -> Bool {
    func header(_ index: LogIndex) throws -> [UInt8] {
      try connection.bytes(of: .log, LogPages.frameHeaderByteCount, at: index.offsetOfLastFrame)
    }
    if let lastFrame, lastFrame.index.salts == now.salts, try header(lastFrame.index) != lastFrame.header { return false }
    if lastFrame?.index != now { lastFrame = (now, try header(now)) }
    return true
  }

  /// Whether another file, or its content, is in the vault's place, beside the log that this store has open: it would be played into that file.
  var leavesLogBesideAnother: Bool {
    guard let log, let now = try? Files.status(at: location.path), isOverwritten || !now.isSameFile(as: file),
      let besides = try? Files.status(at: location.log)
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
