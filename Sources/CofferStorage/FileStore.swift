internal import CofferFiles
public import VaultCore

/// A vault in an SQLite file: the store that the core reads and writes through.
///
/// Many processes and threads may use one vault at a time, each through a store of its own. A store is **not thread-safe**: it
/// belongs to one thread at a time, and its own calls must not be nested in its closures (that stops the program).
///
/// The file is at rest if no process has it open: one file, and a `.lock` beside it that writers queue at.
public final class FileStore: Store {
  private enum State {
    /// Made by the first commit.
    case pending(Creation)
    case open(OpenVault)
    /// It exists, and is opened by the next call.
    case closed
    /// The error of every further call: an earlier one left the outcome in doubt, or found that the file is not the vault any
    /// more.
    case failed(StorageError)
  }

  private let location: Location
  private let lock: SideLock
  private let busyTimeout: Duration
  private let journal: OpenVault.Journal
  private var state: State
  /// For a file that no process changes: no locks, no log, no files beside it.
  private let isUnchanging: Bool
  private var isInUse = false

  /// How many bytes lie in the log beside the file. A copy of the file alone may lack what they hold.
  public var logByteCount: Int64 { (try? Files.status(at: location.log))?.size ?? 0 }

  /// Where the vault lies, its directory resolved: the same text for all ways to write the path.
  public var path: String { location.path }

  /// Opens a vault that exists. It is not changed by that.
  ///
  /// The directory may be reached through symbolic links, the file may not be one. If nothing can be written, the vault can be
  /// read as long as its log holds no changes.
  ///
  /// - Parameter busyTimeout: How long a call waits for other processes.
  /// - Throws: `StorageError`: `noVault`, `logWithoutVault`, `notAVault`, `newerFormat`, `schemaAltered`, `storageDamaged`, `replaced`, `symbolicLink`,
  ///   `truncated`, `foreignOwner`, `permissionsTooOpen`, `accessDenied`, `readOnly` (pending changes, and no right to bring
  ///   them in), `busy`, `full`, `io`, `outOfMemory`, `descriptorsExhausted`.
  public convenience init(at path: String, busyTimeout: Duration = .seconds(10)) throws {
    try self.init(at: path, busyTimeout: busyTimeout, journal: .automatic)
  }

  package convenience init(at path: String, busyTimeout: Duration, withRollbackJournal: Bool) throws {
    try self.init(at: path, busyTimeout: busyTimeout, journal: withRollbackJournal ? .rollback : .automatic)
  }

  private convenience init(at path: String, busyTimeout: Duration, journal: OpenVault.Journal) throws {
    let location = try Location(path)
    let lock = SideLock(location.lock)
    self.init(location, lock, .closed, busyTimeout, journal)
    _ = try opened(Deadline(after: busyTimeout))
  }

  /// Opens a vault that is only read, and that no process changes meanwhile: a copy.
  package convenience init(unchangingAt path: String) throws {
    let location = try Location(path)
    self.init(location, SideLock(location.lock), .closed, .seconds(10), .automatic, isUnchanging: true)
    _ = try opened(Deadline(after: busyTimeout))
  }

  private init(
    _ location: Location, _ lock: SideLock, _ state: State, _ busyTimeout: Duration, _ journal: OpenVault.Journal,
    isUnchanging: Bool = false
  ) {
    self.isUnchanging = isUnchanging
    self.location = location
    self.lock = lock
    self.state = state
    self.busyTimeout = busyTimeout
    self.journal = journal
  }

  deinit { settle() }

  /// Closes the file, with its log brought in, until the next call. If others write, that takes 100 ms at most. If something
  /// remains in the log, the file stays open: `fold` or `rest` is to be called again.
  public func rest() {
    enter()
    defer { leave() }
    settle()
    if case .open(let vault) = state, !vault.isPoisoned, !vault.hasLog { state = .closed }
  }

  private func settle() {
    guard case .open(let vault) = state, !vault.isPoisoned else { return }
    fold(vault, until: Deadline(after: .milliseconds(100)))
  }

  /// Brings what was committed into the file as far as no reader needs it in the log, and empties the log if no process uses it, so
  /// that a copy of the file has it. Does not wait for readers or writers.
  /// - Returns: Whether the file alone is the vault. If not, it is to be called again.
  @discardableResult
  public func fold() -> Bool {
    enter()
    defer { leave() }
    // A store that has failed touches nothing any more.
    guard case .open(let vault) = state, !vault.isPoisoned else { return true }
    fold(vault, until: Deadline(after: .zero))
    if case .failed = state { return true }
    return !vault.hasLog
  }

  private func fold(_ vault: OpenVault, until deadline: Deadline) {
    // Readers and writers come and go: this does not wait for them, least of all with the lock.
    vault.wait(until: Deadline(after: .zero))
    _ = try? guarding(vault) {
      // Also without a log: a file that is not the vault any more is not to be closed as one.
      try vault.checkFile()
      guard vault.hasLog else { return true }
      _ = try vault.checkpoint(.passive)
      // With the lock, so that no writer meets a log that is being emptied, or a file that is being closed.
      return try lock.withLock(until: deadline) { try vault.checkpoint(.truncate) }
    }
  }

  /// If the file is not the vault any more, nothing is done with it from now on.
  private func guarding<Result: ~Copyable>(_ vault: OpenVault, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      guard let lost = error as? LostFile else { throw error }
      let failure = vault.abandon(lost.reason)
      state = .failed(failure)
      // The commit is in the log, and so in the copy of it.
      throw lost.isCommitted ? StorageError(.inDoubt, failure.detail) : failure
    }
  }

  /// A store for a vault that does not exist yet. Nothing is at the path before the first commit, and all that the commit holds
  /// is there, durable, with the file: it is built under another name. Until then the store is empty.
  ///
  /// - Parameter createDirectory: Makes the directory, and those above, for this user alone, where they are missing.
  /// - Throws: `StorageError`: `vaultExists`, `logWithoutVault`, `noVault` (no directory), `foreignOwner`, `permissionsTooOpen`, `accessDenied`,
  ///   `readOnly`, `full`, `io`. The first commit throws `vaultExists` if another process was first.
  public static func create(
    at path: String, createDirectory: Bool = false, busyTimeout: Duration = .seconds(10)
  ) throws -> FileStore {
    if createDirectory { try Files.makeDurableDirectory(Path.parent(of: path)) }
    let location = try Location(path)
    return FileStore(location, SideLock(location.lock), .pending(try Creation(location)), busyTimeout, .automatic)
  }

  /// - Throws: what `body` throws, unchanged. `StorageError`: `columnMismatch`, `schemaAltered`, `newerFormat`, `storageDamaged`,
  ///   `replaced`, `truncated`, `busy`, `inDoubt` (after an earlier call that was), `readOnly`, `io`, `outOfMemory`,
  ///   `descriptorsExhausted`.
  public func read<Result: ~Copyable>(_ body: (any Rows) throws -> Result) throws -> Result {
    enter()
    defer { leave() }
    switch state {
    case .failed(let error): throw error
    case .pending: return try body(NoRows())
    case .open, .closed:
      let deadline = Deadline(after: busyTimeout)
      let vault = try opened(deadline)
      vault.wait(until: deadline)
      return try guarding(vault) { try vault.read(body) }
    }
  }

  /// - Throws: what `prepare` throws, unchanged. `StorageError`: as `read`, and `readOnly`, `full`, `vaultExists` (for a store
  ///   from `create`), `hardLink`, and what may be wrong with the `.lock` file: `symbolicLink`, `foreignOwner`,
  ///   `permissionsTooOpen`. After `inDoubt` the change was made or not, as a whole; after any other error it was not.
  public func commit(_ prepare: (any Rows) throws -> Change) throws {
    enter()
    defer { leave() }
    let deadline = Deadline(after: busyTimeout)
    switch state {
    case .failed(let error): throw error
    case .pending(let creation): try lock.withLock(until: deadline) { try create(by: creation, prepare) }
    case .open, .closed: try write(deadline) { try $0.write(prepare, makeRoom: lock.releaseReserve) }
    }
  }

  /// One write transaction on a file that is there.
  func writing(_ body: (any Rows) throws -> Void) throws {
    enter()
    defer { leave() }
    switch state {
    case .failed(let error): throw error
    case .pending: throw StorageError(.noVault, location.path)
    case .open, .closed: try write(Deadline(after: busyTimeout)) { try $0.replace(body) }
    }
  }

  /// Writes each page of the file anew, so that nothing is left of rows that were changed or removed: to be called once their keys are
  /// to open nothing. No row is changed. Takes up to twice the size of the file in room, until the next `checkpoint`.
  /// - Throws: As `commit`.
  package func rebuild() throws {
    enter()
    defer { leave() }
    guard case .failed(let error) = state else { return try write(Deadline(after: busyTimeout)) { try $0.rebuild() } }
    throw error
  }

  private func write(_ deadline: Deadline, _ body: (OpenVault) throws -> Void) throws {
    guard location.isWritable, !isUnchanging else { throw StorageError(.readOnly, location.path) }
    let vault = try opened(deadline, forWriting: true)
    try lock.withLock(until: deadline) {
      vault.wait(until: deadline)
      try guarding(vault) { try body(vault) }
    }
  }

  private func create(by creation: Creation, _ prepare: (any Rows) throws -> Change) throws {
    let change = try prepare(NoRows())
    if change.isEmpty { return }
    do {
      try creation.run(change)
    } catch let error where StorageError(.inDoubt) ~= error {
      state = .failed(StorageError(.inDoubt, "the vault was being made"))
      throw error
    }
    // Whether it opens is another matter: the change was made.
    state = .closed
  }

  /// Brings the log into the vault file and empties it, so that the file alone is the vault: when idle, or before a copy is made.
  /// - Returns: False where readers in other processes keep it from that.
  /// - Throws: `StorageError`: `busy`, `full`, `readOnly`, `inDoubt`, `io`.
  @discardableResult
  public func checkpoint() throws -> Bool {
    enter()
    defer { leave() }
    switch state {
    case .failed(let error): throw error
    case .pending, .closed: return true
    case .open(let vault):
      guard vault.hasLog else { return true }
      let deadline = Deadline(after: busyTimeout)
      return try lock.withLock(until: deadline) {
        // Readers come and go: waiting for a moment without any would keep the writers waiting.
        vault.wait(until: Deadline(after: .zero))
        return try guarding(vault) { try vault.checkpoint(.truncate) }
      }
    }
  }

  /// A vault that was opened as an unchanging one is opened again if it has been changed, or to be written.
  private func opened(_ deadline: Deadline, forWriting: Bool = false) throws -> OpenVault {
    if case .open(let vault) = state, try !vault.isStale, vault.isWritable || !forWriting { return vault }
    // SQLite's locks go with any descriptor of the file that is closed: first the old one, then the new locks.
    state = .closed
    let vault: OpenVault
    do {
      vault = try open(writable: !isUnchanging, deadline)
    } catch let error where StorageError(.full) ~= error {
      // SQLite needs 32 KiB for the index of its log, also to read. Without changes in the log the file alone is the vault.
      if !forWriting, try !location.hasPendingChanges() {
        vault = try open(writable: false, deadline)
      } else {
        guard try lock.withLock(until: deadline, lock.releaseRoomToOpen) else { throw error }
        vault = try open(writable: true, deadline)
      }
    }
    state = .open(vault)
    return vault
  }

  private func open(writable: Bool, _ deadline: Deadline) throws -> OpenVault {
    try OpenVault(location, journal: journal, lock: lock, writable: writable, deadline: deadline)
  }

  /// The connection of a transaction of this store.
  func connection(of rows: any Rows) throws(StorageError) -> Connection {
    guard let rows = rows as? StoredRows else { throw StorageError(.noVault, location.path) }
    return rows.connection
  }

  private func enter() {
    precondition(!isInUse, "a store was used within its own closure")
    isInUse = true
  }

  private func leave() {
    isInUse = false
    if case .open(let vault) = state, vault.isPoisoned {
      state = .failed(StorageError(.inDoubt, "an earlier call failed in writing to the disk"))
    }
  }
}
