internal import CLinux
internal import Glibc

/// An open file, closed with this object.
///
/// Never to be used on a vault that SQLite may have open in this process: closing any descriptor of a file drops all POSIX locks that
/// the process has on it, those of SQLite's connections in other threads too.
package final class File<Failure: FileFailure>: Sendable {
  package let number: Int32
  /// For messages.
  package let path: String

  /// Takes over a descriptor that was opened elsewhere: it is closed with this object.
  package init(_ number: Int32, _ path: String) {
    self.number = number
    self.path = path
  }

  /// Never follows a symbolic link in the last component, and never waits for the other end of a pipe.
  /// - Parameter name: The name of the file in errors; nil: `path`.
  package convenience init(_ path: String, _ flags: Int32, named name: String? = nil) throws(Failure) {
    let opened = retrying { unsafe Glibc.open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600) }
    guard opened.result >= 0 else { throw Failure(errno: opened.errno, name ?? path) }
    self.init(opened.result, name ?? path)
  }

  deinit {
    let reason = errno
    _ = close(number)
    errno = reason
  }

  /// As `init`, for what must be a regular file.
  /// - Returns: nil if there is no such file, and none was to be made.
  /// - Throws: `symbolicLink`, `notAFile`; errors of the system.
  package static func open(_ path: String, _ flags: Int32) throws(Failure) -> File? {
    let opened = retrying { unsafe Glibc.open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600) }
    guard opened.result >= 0 else {
      if opened.errno == ENOENT { return nil }
      throw Failure(errno: opened.errno, path)
    }
    let file = File(opened.result, path)
    let status = try file.status()
    guard status.kind == .file else { throw Failure(FileError(.notAFile, path)) }
    // Made under a umask that takes bits from the owner.
    if flags & O_CREAT != 0, status.mode & 0o600 != 0o600, status.size == 0 { fchmod(file.number, 0o600) }
    return file
  }

  package func status() throws(Failure) -> FileStatus { try Files<Failure>.status(of: number, path) }

  package var byteCount: Int {
    get throws(Failure) { Int(try status().size) }
  }

  // MARK: Reading

  /// The next bytes, none at the end.
  package func read(upTo count: Int = 1 << 16) throws(Failure) -> [UInt8] {
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      let start = buffer.baseAddress
      let part = retrying { unsafe Glibc.read(number, start, count) }
      failure = part.errno
      filled = max(0, part.result)
    }
    guard failure == 0 else { throw Failure(errno: failure, path) }
    return bytes
  }

  /// Fills `bytes` from the current position as far as the file goes.
  package func read(into bytes: inout MutableRawSpan) throws(Failure) -> Int {
    var done = 0
    while done < bytes.byteCount {
      let from = done
      let part = unsafe bytes.withUnsafeMutableBytes { buffer in
        retrying { unsafe Glibc.read(number, buffer.baseAddress! + from, buffer.count - from) }
      }
      guard part.result >= 0 else { throw Failure(errno: part.errno, path) }
      if part.result == 0 { break }
      done += part.result
    }
    return done
  }

  /// Up to `count` bytes from `offset`; fewer at the end of the file. Threads may read at offsets without a lock.
  package func read(at offset: Int, count wanted: Int) throws(Failure) -> [UInt8] {
    var failure: Int32 = 0
    var count = wanted
    // A count comes from a file too: there is no memory for what a damaged one may say.
    if count > 1 << 20 { count = max(0, min(count, try byteCount - offset)) }
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let start = unsafe buffer.baseAddress! + filled
        let part = retrying { unsafe pread(number, start, count - filled, off_t(offset + filled)) }
        if part.errno != 0 { failure = part.errno }
        guard part.result > 0 else { break }
        filled += part.result
      }
    }
    guard failure == 0 else { throw Failure(errno: failure, path) }
    return bytes
  }

  /// Hands all bytes of the file on, from its beginning.
  package func forEachPiece(_ body: ([UInt8]) throws -> Void) throws {
    var offset = 0
    while case let piece = try read(at: offset, count: 1 << 20), !piece.isEmpty {
      try body(piece)
      offset += piece.count
    }
  }

  /// Whether two files have the same bytes.
  package func isEqual(to other: File) throws(Failure) -> Bool {
    guard try byteCount == other.byteCount else { return false }
    var offset = 0
    while true {
      let piece = try read(at: offset, count: 1 << 20)
      guard try piece == other.read(at: offset, count: 1 << 20) else { return false }
      guard !piece.isEmpty else { return true }
      offset += piece.count
    }
  }

  // MARK: Writing

  package func write(_ bytes: [UInt8]) throws(Failure) { try unsafe write(bytes.span.bytes) }

  package func write(_ bytes: RawSpan) throws(Failure) {
    var written = 0
    while written < bytes.byteCount {
      let from = written
      let part = unsafe bytes.withUnsafeBytes { buffer in
        retrying { unsafe Glibc.write(number, buffer.baseAddress! + from, buffer.count - from) }
      }
      guard part.result >= 0 else { throw Failure(errno: part.errno, path) }
      written += part.result
    }
  }

  /// Writes all bytes. A call that fails in the middle leaves some of them behind.
  package func write(_ bytes: [UInt8], at offset: Int) throws(Failure) {
    var written = 0
    while written < bytes.count {
      let part = unsafe bytes.withUnsafeBytes { buffer in
        retrying { unsafe pwrite(number, buffer.baseAddress! + written, buffer.count - written, off_t(offset + written)) }
      }
      guard part.result >= 0 else { throw Failure(errno: part.errno, path) }
      written += part.result
    }
  }

  /// Sets the permission bits, regardless of the umask.
  package func setMode(_ mode: UInt32) throws(Failure) {
    guard fchmod(number, mode) == 0 else { throw Failure(errno: errno, path) }
  }

  /// Returns when content and attributes are on the disk. One that failed must not be tried again: the kernel has forgotten what it
  /// could not write.
  package func synchronize() throws(Failure) { try Self.check(retrying { fsync(number) }, path) }

  /// Returns when the content is on the disk.
  package func synchronizeData() throws(Failure) { try Self.check(retrying { fdatasync(number) }, path) }

  private static func check(_ synced: (result: Int32, errno: Int32), _ path: String) throws(Failure) {
    guard synced.result == 0 else { throw Failure(errno: synced.errno, path) }
  }
}

/// The file of a caller without errors of its own.
package typealias OpenFile = File<FileError>
