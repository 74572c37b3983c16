internal import CofferFiles
import Glibc
import SecretMemory
public import VaultCore

/// A vault file of the draft of the format ("CFV1"), and its conversion. Not thread-safe.
///
/// The conversion is one transaction of SQLite in the file itself: other processes see the old vault or the new one, and a
/// process that is killed leaves the one or the other.
public final class DraftFile: Store {
  private let location: Location
  private let lock: SideLock
  private let connection: Connection
  private let busyTimeout: Duration
  private let format = OldFormat.draft

  /// Where the vault lies, its directory resolved.
  public var path: String { location.path }
  /// The path of the copy of the old file.
  public var copyPath: String { FileStore.draftCopy(ofVaultAt: location.path) }

  /// - Parameter busyTimeout: How long a call waits for other processes.
  /// - Throws: as `FileStore.init(at:)`; `notAVault` for a file that is no draft; `readOnly`; `hardLink`.
  public init(at path: String, busyTimeout: Duration = .seconds(10)) throws {
    location = try Location(path)
    lock = SideLock(location.lock)
    self.busyTimeout = busyTimeout
    let status = try OpenVault.inspect(location)
    guard status.links == 1 else { throw StorageError(.hardLink, location.path) }
    guard location.isWritable else { throw StorageError(.readOnly, location.path) }
    let isShared = FileSystem.sharesMemory(at: location.directory)
    do { connection = try Self.open(location, status, alone: !isShared, busyTimeout) } catch let error {
      guard isShared, StorageError(.full) ~= error else { throw error }
      // SQLite has no room for the index of its log, and needs none alone. The beginning of one is removed: no other process has it open.
      connection = try Self.open(location, status, alone: true, busyTimeout)
      unsafe unlink(location.logIndex)
    }
    do { try read { _ in } } catch {
      connection.poison()
      throw error
    }
  }

  private static func open(
    _ location: Location, _ status: FileStatus, alone: Bool, _ busyTimeout: Duration
  ) throws -> Connection {
    let connection = try Connection(location.path, .readWrite)
    do {
      connection.wait(until: Deadline(after: busyTimeout))
      try Container.check(start: connection.fileBytes(100), isOld: true)
      guard let now = try Files.status(at: location.path), now.isSameFile(as: status), try !connection.hasMoved() else {
        throw StorageError(.replaced, location.path)
      }
      try OpenVault.checkSize(location)
      if alone { try connection.run(.exclusive) }
      try connection.run(.durable)
      try connection.run(.beginRead)
      _ = try connection.integer(.formatVersion)
      connection.endWithoutChange()
      return connection
    } catch {
      // Nothing of the log goes into a file that is no draft.
      connection.poison()
      throw error
    }
  }

  /// The rows that a draft shares with a vault: the header, the slots and the nodes.
  /// - Throws: The error of `body`; `StorageError`.
  public func read<Result: ~Copyable>(_ body: (any Rows) throws -> Result) throws -> Result {
    connection.wait(until: Deadline(after: busyTimeout))
    try connection.run(.beginRead)
    let rows = StoredRows(connection)
    defer {
      rows.close()
      connection.endWithoutChange()
    }
    try checkIsDraft()
    return try body(rows)
  }

  /// - Throws: `readOnly`: a draft is converted or left as it is.
  public func commit(_ prepare: (any Rows) throws -> Change) throws { throw StorageError(.readOnly, location.path) }

  /// Converts the file, after a copy of it was made at `copyPath`.
  /// - Parameters:
  ///   - convert: gets the rows of the draft, whose records have their secret in the place of the secret's digest, and a
  ///     function for the records of the format. It returns what else is in the vault.
  ///   - verify: gets the rows of the converted vault before they are committed.
  /// - Returns: what `verify` returns.
  /// - Throws: what the closures throw; `vaultExists` if another file is at `copyPath`; `busy` if another process has the file
  ///   open and reads or writes; `full`, `io`. After these the file is as it was. `inDoubt` if the commit itself failed: the
  ///   file is the draft or the vault, as a whole.
  public func convert<Result>(
    _ convert: (any Rows, (SealedRecord) throws -> Void) throws -> Change, verify: (any Rows) throws -> Result
  ) throws -> Result {
    let deadline = Deadline(after: busyTimeout)
    return try lock.withLock(until: deadline) {
      connection.wait(until: deadline)
      for name in TemporaryName.leftovers(of: location.name, in: location.directory) { unsafe unlink(name) }
      // The file alone is the vault: the copy of it has everything.
      guard try connection.checkpoint(.truncate) else { throw StorageError(.busy, location.path) }
      try connection.run(.beginWrite)
      let result: Result
      do {
        guard try !location.hasPendingChanges() else { throw StorageError(.busy, location.path) }
        try checkIsDraft()
        let temporary = try copyToTemporary()
        defer { unsafe unlink(temporary) }
        try replaceRows(convert)
        result = try withRows(isDraft: false, verify)
        try keep(temporary)
        try connection.commit()
      } catch {
        connection.endWithoutChange()
        throw error
      }
      // It is durable in the log; the next process to open it brings it into the file, if this one does not.
      _ = try? connection.checkpoint(.truncate)
      return result
    }
  }

  private func checkIsDraft() throws {
    try connection.bounded { try Container.checkSchema(connection, format.schema) }
    guard try connection.integer(.program) == format.program, try connection.integer(.formatVersion) == format.version else {
      throw StorageError(.notAVault, location.path)
    }
  }

  private func replaceRows(_ convert: (any Rows, (SealedRecord) throws -> Void) throws -> Change) throws {
    for statement in format.before { try connection.run(statement) }
    let change = try withRows(isDraft: true) { rows in
      try convert(rows) { record in
        var change = Change()
        change.records[record.head.id] = record
        try change.apply(to: connection)
      }
    }
    for statement in format.after { try connection.run(statement) }
    try change.apply(to: connection)
    try Container.checkSchema(connection)
  }

  private func withRows<Result>(isDraft: Bool, _ body: (any Rows) throws -> Result) throws -> Result {
    let rows = StoredRows(connection, isDraft: isDraft)
    defer { rows.close() }
    return try body(rows)
  }

  // MARK: The copy

  /// The file as it is, before the transaction writes to it, durable under a temporary name.
  private func copyToTemporary() throws -> String {
    let temporary = TemporaryName.next(for: location.path)
    do {
      let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL)
      try file.setMode(0o600)
      try forEachPiece { try file.write($0) }
      try file.synchronize()
    } catch {
      unsafe unlink(temporary)
      throw error
    }
    return temporary
  }

  private func forEachPiece(_ body: ([UInt8]) throws -> Void) throws {
    let size = try Files.status(at: location.path)?.size ?? 0
    for offset in stride(from: 0, to: size, by: 1 << 20) {
      try body(connection.fileBytes(Int(min(size - offset, 1 << 20)), at: offset))
    }
  }

  /// Gives the copy its name. A copy that a conversion made which was then killed, or failed, is the same and stays.
  /// - Throws: `vaultExists` for another file.
  private func keep(_ temporary: String) throws {
    guard try Files.renameWithoutReplacing(temporary, to: copyPath) || Self.isSame(temporary, copyPath) else {
      throw StorageError(.vaultExists, copyPath)
    }
    try Files.synchronizeDirectory(location.directory)
  }

  private static func isSame(_ path: String, _ other: String) throws -> Bool {
    guard let left = try SmallFile.open(path), let right = try SmallFile.open(other) else { return false }
    return try left.isEqual(to: right)
  }
}
