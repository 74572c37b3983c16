internal import CofferFiles
import Glibc

/// The queue of writers: two one-byte locks on a file beside the vault, tried without waiting until a deadline.
///
/// SQLite's own waiting starves: of eight writers one made 0.5 commits per second and another 2,900. flock(2) waits for ever on a
/// writer that was stopped, and lets the one that released overtake: the slowest of eight had 0.3 of the fastest's commits and
/// waited up to 0.25 s; here it has 0.86 and waits 0.06 s, at two thirds of the throughput.
///
/// So a writer takes the turnstile, then the writer's lock, then gives the turnstile back: the holder of the turnstile is the
/// next writer, and one that has just released cannot overtake it. The locks belong to an open file description: two stores of
/// one process exclude each other, and the kernel takes them back when a process dies.
///
/// The file's content means nothing but room: 256 KiB that are given back if the disk is full and a record is to be removed.
/// Removing the file costs fairness, not safety: SQLite's own locks lie beneath.
///
/// Not thread-safe.
final class SideLock {
  /// From here on there is a byte for each log index. The room ends long before.
  private static let indexes = 1 << 32
  private static let turnstile = 0
  private static let writer = 1
  // Byte 2 is that of `MaintenanceLock`.
  /// A removal writes about ten pages to the log, in a vault of a million records.
  private static let reserveByteCount = 256 << 10

  private let path: String
  private var file: OpenFile?
  /// -1: no file.
  private var descriptor: Int32 { file?.number ?? -1 }
  private var hasReserve = false
  /// The byte that `hold` has locked.
  private var heldByte: Int?

  init(_ path: String) { self.path = path }

  /// - Throws: `busy` at the deadline; `symbolicLink`, `foreignOwner`, `permissionsTooOpen`, `notAFile` for what lies at the
  ///   path; `readOnly`, `accessDenied`, `full`, `descriptorsExhausted`, `io`.
  func withLock<Result>(until deadline: Deadline, _ body: () throws -> Result) throws -> Result {
    try open()
    try take(Self.turnstile, until: deadline)
    do {
      try take(Self.writer, until: deadline)
    } catch {
      release(Self.turnstile)
      throw error
    }
    release(Self.turnstile)
    defer { release(Self.writer) }
    keepReserve()
    return try body()
  }

  /// Holds a shared lock for the log index that the store has mapped, until `letGo`. Other stores, of this process or of others,
  /// hold the same one, unless the index was removed or replaced. A process that opens it afresh cannot see that by the file, and both
  /// would use one log by two indexes. Each locks first and looks then, so that not both pass.
  ///
  /// Without the file it does nothing: readers do not make one.
  /// - Parameter index: The inode number.
  /// - Returns: false if a store holds another one.
  func hold(index: UInt64) -> Bool {
    let byte = Self.indexes + 1 + Int(index & (1 << 62 - 1))
    guard byte != heldByte else { return true }
    letGo()
    do { try open(creating: false) } catch { return true }
    guard case .taken = FileLock(on: descriptor, byte: byte).attempt(.shared) else { return true }
    heldByte = byte
    return FileLock.isHeld(Self.indexes..<byte, on: descriptor) != true
      && FileLock.isHeld((byte + 1)..., on: descriptor) != true
  }

  /// Whether another store holds an index, and so has the vault open with its log.
  var isAnyIndexHeld: Bool {
    do { try open(creating: false) } catch { return false }
    return FileLock.isHeld((Self.indexes + 1)..., on: descriptor) == true
  }

  /// Before the connection closes: the last one to close removes the index, and the next one to open makes another one.
  func letGo() {
    if let heldByte { release(heldByte) }
    heldByte = nil
  }

  private func open(creating: Bool = true) throws(StorageError) {
    if descriptor >= 0 {
      // A process that waits for the lock of a removed file excludes no other process.
      let now = try Files.status(at: path)
      if let now, let own = try? file?.status(), now.isSameFile(as: own) { return }
      file = nil
      hasReserve = false
      heldByte = nil
    }
    file = try Self.file(at: path, creating: creating)
  }

  /// Opens the lock file beside a vault, and checks it.
  static func file(at path: String, creating: Bool = true) throws(StorageError) -> OpenFile {
    let file = try OpenFile(path, O_RDWR | (creating ? O_CREAT : 0))
    let status = try file.status()
    try Ownership.check(file: status, path)
    // Another file of this user under a second name: it would be filled up, or emptied when the disk is full.
    guard status.links <= 1 else { throw StorageError(.hardLink, path) }
    // Just made, under a umask that takes bits from the owner.
    if status.mode & 0o600 != 0o600 { try? file.setMode(0o600) }
    return file
  }

  private func take(_ byte: Int, until deadline: Deadline) throws(StorageError) {
    // One process at most waits for the writer's lock: it may look often. Many may wait at the turnstile.
    let pause = byte == Self.writer ? LockPause(20, upTo: 200) : LockPause(50, upTo: 1000)
    try FileLock(on: descriptor, byte: byte).take(
      until: deadline, pause: pause, path, orThrow: StorageError(.busy, "another process writes the vault"))
  }

  /// As far as there is room: a vault works without.
  private func keepReserve() {
    guard !hasReserve, let size = try? file?.byteCount else { return }
    hasReserve = size >= Self.reserveByteCount || posix_fallocate(descriptor, 0, Self.reserveByteCount) == 0
  }

  /// Within the lock. Whether there was any.
  func releaseReserve() -> Bool { releaseReserve(Self.reserveByteCount) }

  /// Within the lock: what opening takes for the index of the log. The rest is for the removal.
  func releaseRoomToOpen() -> Bool { releaseReserve(Self.reserveByteCount / 4) }

  private func releaseReserve(_ count: Int) -> Bool {
    guard let size = try? file?.byteCount, size > 0, ftruncate(descriptor, max(0, size - count)) == 0 else { return false }
    // The next commit asks for it again.
    hasReserve = false
    return true
  }

  private func release(_ byte: Int) {
    FileLock(on: descriptor, byte: byte).release()
  }
}
