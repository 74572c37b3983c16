internal import CofferFiles
import Glibc
import SecretMemory
import VaultCore

/// A vault file that passed every check, and its transactions. The part of `FileStore` that exists once the file does.
///
/// Not thread-safe.
final class OpenVault {
  private let location: Location
  private let journal: Journal
  private let lock: SideLock
  private let connection: Connection
  /// The status of the file when it was opened without locks, because it cannot be written, or the disk is full. nil if it was
  /// opened with locks.
  private let unchanging: FileStatus?
  private var seen: SeenFile
  private var checkedSchema: Int64?
  private var isJournalSettled = false

  enum Journal: Sendable {
    /// As the file system allows.
    case automatic
    /// A rollback journal, whatever the file system.
    case rollback
  }

  /// Pages in the log that a commit brings into the file before it returns: about what SQLite does by itself.
  private static let checkpointPages: Int32 = 1000

  /// - Throws: all that is wrong with the file. See `FileStore.init`.
  /// - Parameter writable: Whether it may be written, if the place allows that.
  init(_ location: Location, journal: Journal, lock: SideLock, writable: Bool, deadline: Deadline) throws {
    self.location = location
    self.journal = journal
    self.lock = lock
    // First, because a vault whose file is lost does not pass the checks.
    if writable { KeptLog.removeLeftovers(location) }
    let status = try Self.inspect(location)
    seen = SeenFile(status, at: location)
    if writable && location.isWritable {
      unchanging = nil
      try KeptLog.copyUnreadable(location)
      connection = try Connection(location.path, .readWrite)
    } else {
      // The log can be read only by one who may lock and map files beside it.
      guard try !location.hasPendingChanges() else {
        throw StorageError(.readOnly, "\(location.path) has changes in its log that only a user with write access can bring in")
      }
      unchanging = status
      connection = try Connection(location.path, .unchanging)
    }
    connection.wait(until: deadline)
    do {
      seen.isConvertedInLog = try Container.oldFormat(connection.fileBytes(100)) != nil && location.hasPendingChanges()
      try seen.checkStart(connection, openedBeside: lock)
      // Verify that SQLite has opened the file that was inspected.
      guard let now = try Files.status(at: location.path), now.isSameFile(as: status), try !connection.hasMoved() else {
        throw StorageError(.replaced, location.path)
      }
      try Self.checkSize(location)
      try read { _ in try checkLength() }
      if unchanging == nil { try connection.run(.durable) }
    } catch {
      // Nothing of the log goes into a file that is not a vault, and the log stays.
      connection.poison()
      lock.letGo()
      guard let lost = (error as? LostFile)?.reason else { throw error }
      throw lost.code == .truncated ? self.lost(lost) : lost
    }
  }

  deinit { lock.letGo() }

  var isPoisoned: Bool { connection.isPoisoned }

  var isWritable: Bool { unchanging == nil }

  /// Whether there may be a log to bring into the file. One that only readers have used is empty.
  var hasLog: Bool { unchanging == nil && ((try? Files.status(at: location.log))?.size ?? 0) > 0 }

  /// How long the calls that follow wait for other connections.
  func wait(until deadline: Deadline) { connection.wait(until: deadline) }

  /// Whether another file has to be opened to see the present state.
  var isStale: Bool {
    get throws {
      guard let unchanging else { return false }
      return try Files.status(at: location.path) != unchanging || location.hasPendingChanges()
    }
  }

  // MARK: Checks on the file

  /// Pages that are in neither the file nor the log were cut off.
  private func checkLength() throws {
    guard let file = try Files.status(at: location.path) else { return }
    let missing = try LogPages.missing(of: connection.integer(.pageCount), in: location, byteCount: file.size)
    guard missing <= 0 else { throw LostFile(.truncated, "\(location.path) lacks \(missing) pages") }
  }

  /// The first thing that each transaction does: it sees one state of the file, and this is whether that state is a vault.
  /// - Parameter file: Its status just before.
  private func checkState(_ file: FileStatus) throws {
    let version = try connection.integer(.schemaVersion)
    try seen.remember(file)
    try holdLog()
    if version != checkedSchema {
      checkedSchema = nil
      let program = try connection.integer(.program)
      guard try OldFormat.marked(program, connection.integer(.formatVersion)) == nil else { throw StorageError(.migrationNeeded) }
      try connection.bounded { try Container.checkSchema(connection) }
      guard program == Container.program else { throw StorageError(.notAVault, location.path) }
      checkedSchema = version
    }
    try Container.check(formatVersion: connection.integer(.formatVersion))
  }

  /// The connection has the log open. Another process may have it open by another index.
  /// - Throws: `LostFile`.
  private func holdLog() throws {
    guard unchanging == nil else { return }
    try seen.rememberLog(connection)
    guard let index = seen.index, !lock.hold(index: index.inode) else { return }
    throw LostFile(.replaced, "\(location.logIndex) was removed while another process had the vault open, and still has")
  }

  /// Outside of a transaction: before the log is brought into the file, and before a commit is acknowledged.
  /// - Throws: `LostFile`; `StorageError` if the file cannot be looked at.
  func checkFile() throws { _ = try seen.check(connection, forWriting: true) }

  /// The file is not the vault any more, so nothing is written into it, also not as the connection closes.
  /// - Returns: The error to throw from now on, which names the copy of the log.
  func abandon(_ reason: StorageError) -> StorageError {
    let error = lost(reason)
    let isCopied = error.detail != reason.detail
    connection.poison()
    if isCopied, seen.leavesLogBesideAnother { unsafe unlink(location.log) }
    return error
  }

  /// Copied from the file that the connection has open: at its path there may be none, or another one.
  private func lost(_ reason: StorageError) -> StorageError {
    Self.lost(location, reason.code, reason.detail) { () throws(StorageError) in
      guard seen.index != nil else { return try KeptLog.copy(of: location) }
      let size = try connection.byteCount(of: .log)
      return try KeptLog.copy(for: location, byteCount: size, header: seen.logHeader) { offset, count throws(StorageError) in
        let count = max(0, min(count, Int(size) - offset))
        return count == 0 ? [] : try connection.bytes(of: .log, count, at: Int64(offset))
      }
    }
  }

  // MARK: Transactions

  func read<Result: ~Copyable>(_ body: (any Rows) throws -> Result) throws -> Result {
    // Before SQLite looks at it: an empty file is a new database to it.
    let file = try seen.check(connection, forWriting: false)
    try connection.run(.beginRead)
    let rows = StoredRows(connection)
    defer {
      rows.close()
      connection.endWithoutChange()
    }
    try checkState(file)
    return try body(rows)
  }

  /// Within the side lock.
  ///
  /// On a full disk a change that only removes records is tried once more after `makeRoom`: otherwise nothing
  /// could be removed there. The change itself is repeated, not `prepare`, and only if nothing has been written in between.
  func write(_ prepare: (any Rows) throws -> Change, makeRoom: () -> Bool) throws {
    try prepareToWrite()
    var prepared: (change: Change, version: Int64)?
    do {
      try transact { rows in
        let change = try prepare(rows)
        if change.onlyRemoves { prepared = (change, try connection.integer(.dataVersion)) }
        return try apply(change)
      }
    } catch let error where StorageError(.full) ~= error {
      guard let prepared, makeRoom() else { throw error }
      try transact { _ in
        guard try connection.integer(.dataVersion) == prepared.version else { throw error }
        return try apply(prepared.change)
      }
    }
    try finishWriting()
  }

  /// Within the side lock: one transaction that may write as many rows as there are.
  func replace(_ body: (StoredRows) throws -> Void) throws {
    try prepareToWrite()
    try transact { rows in
      try body(rows)
      return true
    }
    try finishWriting()
  }

  /// Within the side lock: see `Connection.rebuild`.
  func rebuild() throws {
    try prepareToWrite()
    try read { _ in }
    try connection.rebuild()
    try finishWriting()
  }

  private func prepareToWrite() throws {
    // SQLite keeps a log for each name. Under two names, each overwrites what was acknowledged under the other.
    guard try (Files.status(at: location.path)?.links ?? 1) == 1 else { throw StorageError(.hardLink, location.path) }
    try settleJournal()
  }

  /// - Returns: false for a change of nothing.
  private func apply(_ change: Change) throws -> Bool {
    try change.apply(to: connection)
    return !change.isEmpty
  }

  private func finishWriting() throws {
    try checkCommitted()
    if connection.logPages >= Self.checkpointPages {
      // The commit is durable in the log. If this fails in fsync the connection is poisoned, and the next call says so.
      _ = try? connection.checkpoint(.passive)
    }
  }

  /// - Throws: `LostFile`; `inDoubt` if the file cannot be looked at.
  private func checkCommitted() throws {
    do {
      try checkFile()
      // A log that another process began between the check before the transaction and the transaction.
      try holdLog()
    } catch var lost as LostFile {
      lost.isCommitted = true
      throw lost
    } catch {
      connection.poison()
      throw StorageError(.inDoubt, "\(error)")
    }
  }

  /// Until COMMIT is run nothing has been changed, whatever fails.
  /// - Parameter body: Returns whether something is to be committed.
  private func transact(_ body: (StoredRows) throws -> Bool) throws {
    let file = try seen.check(connection, forWriting: true)
    try connection.run(.beginWrite)
    let rows = StoredRows(connection)
    do {
      defer { rows.close() }
      try checkState(file)
      guard try body(rows) else { return connection.endWithoutChange() }
    } catch {
      connection.endWithoutChange()
      throw error
    }
    try connection.commit()
  }

  /// Brings the log into the file, and with `truncate` empties it. False if readers keep it from that.
  func checkpoint(_ mode: Connection.Checkpoint) throws -> Bool {
    try checkFile()
    do {
      return try connection.checkpoint(mode)
    } catch let error where connection.isPoisoned {
      throw StorageError(.inDoubt, error.detail)
    }
  }

  // MARK: Journal

  /// The file may come from another machine, or from another kind of file system. Changed before the first write, not by readers.
  private func settleJournal() throws {
    guard !isJournalSettled else { return }
    let usesLog = try connection.fileBytes(20)[18] == 2
    let wantsLog = journal == .automatic && FileSystem.sharesMemory(at: location.directory)
    defer { checkedSchema = nil }
    if wantsLog && !usesLog {
      // Where SQLite finds no shared memory it stays with the journal; where a reader is busy, or the disk full, it is tried
      // again.
      do { _ = try connection.text(.useLog) } catch StorageError(.busy) { return } catch StorageError(.full) { return }
    } else if usesLog && !wantsLog {
      seen.forgetLog()
      lock.letGo()
      // Alone, the log needs no shared memory. The first read afterwards gives the lock back.
      try connection.run(.exclusive)
      defer { try? connection.run(.shared) }
      guard try connection.text(.useJournal) == "delete" else { throw StorageError(.busy, location.path) }
    }
    isJournalSettled = true
  }
}
