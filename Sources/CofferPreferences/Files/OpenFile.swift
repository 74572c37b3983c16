internal import CofferFiles
import Glibc

/// An open file, closed with this object. Reads and writes at offsets, so that threads share it without a lock.
final class OpenFile: Sendable {
  let number: Int32
  /// For messages.
  let path: String

  private init(_ number: Int32, _ path: String) {
    self.number = number
    self.path = path
  }

  deinit { close(number) }

  /// Never through a symbolic link, and never waiting for the other end of a pipe.
  /// - Returns: Nil where there is no such file, and none was to be made.
  /// - Throws: `symbolicLink`, `notAFile`, `accessDenied`, `readOnly`, `full`, `descriptorsExhausted`, `io`.
  static func open(_ path: String, _ flags: Int32) throws(PreferenceError) -> OpenFile? {
    let opened = retrying { unsafe Glibc.open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600) }
    guard opened.result >= 0 else {
      if opened.errno == ENOENT { return nil }
      throw PreferenceError(errno: opened.errno, path)
    }
    let file = OpenFile(opened.result, path)
    let status = try file.status()
    guard status.st_mode & S_IFMT == S_IFREG else { throw PreferenceError(.notAFile, path) }
    // Made under a umask that takes bits from the owner.
    if flags & O_CREAT != 0, status.st_mode & 0o600 != 0o600, status.st_size == 0 { fchmod(file.number, 0o600) }
    return file
  }

  func status() throws(PreferenceError) -> stat {
    var status = stat()
    guard unsafe fstat(number, &status) == 0 else { throw PreferenceError(errno: errno, path) }
    return status
  }

  /// Up to `count` bytes from `offset`; fewer at the end of the file.
  func read(at offset: Int, count wanted: Int) throws(PreferenceError) -> [UInt8] {
    var failure: Int32 = 0
    var count = wanted
    // A count comes from a file too: there is no memory for what a damaged one may say.
    if count > 1 << 20 { count = max(0, min(count, Int(try status().st_size) - offset)) }
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let start = unsafe buffer.baseAddress! + filled
        let part = retrying { unsafe pread(number, start, count - filled, off_t(offset + filled)) }
        if part.errno != 0 { failure = part.errno }
        guard part.result > 0 else { break }
        filled += part.result
      }
    }
    guard failure == 0 else { throw PreferenceError(errno: failure, path) }
    return bytes
  }

  /// All bytes. What fails in the middle leaves some of them behind.
  func write(_ bytes: [UInt8], at offset: Int) throws(PreferenceError) {
    var written = 0
    while written < bytes.count {
      let part = unsafe bytes.withUnsafeBytes { buffer in
        retrying { unsafe pwrite(number, buffer.baseAddress! + written, buffer.count - written, off_t(offset + written)) }
      }
      guard part.result >= 0 else { throw PreferenceError(errno: part.errno, path) }
      written += part.result
    }
  }

  /// Returns when the content is on the disk.
  func synchronize() throws(PreferenceError) {
    let done = retrying { fdatasync(number) }
    guard done.result == 0 else { throw PreferenceError(errno: done.errno, path) }
  }
}
