internal import CofferFiles
import Glibc

/// An open file, closed when the owner lets go of it.
///
/// Never to be used on a vault that SQLite may have open in this process: closing any descriptor of a file drops all POSIX locks
/// that the process has on it, those of SQLite's connections in other threads too.
struct Descriptor: ~Copyable {
  let number: Int32

  /// Never follows a symbolic link in the last component, and never waits for the other end of a pipe.
  init(_ path: String, _ flags: Int32, mode: mode_t = 0o600, missing: StorageError.Code = .io) throws(StorageError) {
    let opened = retrying { unsafe open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode) }
    guard opened.result >= 0 else { throw StorageError(errno: opened.errno, path, missing: missing) }
    number = opened.result
  }

  deinit {
    // Every write was followed by an fsync whose result was looked at, so there is nothing that close could still report.
    _ = close(number)
  }

  func status() throws(StorageError) -> FileStatus {
    var status = stat()
    guard unsafe fstat(number, &status) == 0 else { throw StorageError(errno: errno, "fstat") }
    return FileStatus(status)
  }

  /// Whatever the umask says.
  func setMode(_ mode: mode_t) throws(StorageError) {
    guard fchmod(number, mode) == 0 else { throw StorageError(errno: errno, "fchmod") }
  }

  func write(_ bytes: RawSpan) throws(StorageError) {
    var done = 0
    while done < bytes.byteCount {
      let from = done
      let written = unsafe bytes.withUnsafeBytes { buffer in
        retrying { unsafe Glibc.write(number, buffer.baseAddress! + from, buffer.count - from) }
      }
      guard written.result >= 0 else { throw StorageError(errno: written.errno, "write") }
      done += written.result
    }
  }

  /// Fills `bytes` as far as the file goes.
  func read(into bytes: inout MutableRawSpan) throws(StorageError) -> Int {
    var done = 0
    while done < bytes.byteCount {
      let from = done
      let got = unsafe bytes.withUnsafeMutableBytes { buffer in
        retrying { unsafe Glibc.read(number, buffer.baseAddress! + from, buffer.count - from) }
      }
      guard got.result >= 0 else { throw StorageError(errno: got.errno, "read") }
      if got.result == 0 { break }
      done += got.result
    }
    return done
  }

  /// Up to `count` bytes from an offset; fewer at the end of the file.
  func bytes(_ count: Int, at offset: Int64) throws(StorageError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = unsafe bytes.withUnsafeMutableBytes { buffer in
      retrying { unsafe pread(number, buffer.baseAddress, count, Int(offset)) }
    }
    guard got.result >= 0 else { throw StorageError(errno: got.errno, "read") }
    bytes.removeLast(count - got.result)
    return bytes
  }

  /// A failed fsync must not be tried again: the kernel has forgotten what it could not write.
  func synchronize() throws(StorageError) {
    let synced = retrying { fsync(number) }
    // EINVAL: a file system, or a directory on it, that has no fsync.
    guard synced.result == 0 || synced.errno == EINVAL else { throw StorageError(errno: synced.errno, "fsync") }
  }
}
