package import CLinux
internal import Glibc

/// A file that is open, closed with this object.
package final class OpenFile: Sendable {
  package let number: Int32
  package let path: String

  /// Takes over a descriptor that was opened elsewhere: it is closed with this object.
  package init(_ number: Int32, _ path: String) {
    self.number = number
    self.path = path
  }

  deinit { close(number) }

  package var byteCount: Int {
    get throws(FileError) { Int(try status().st_size) }
  }

  package func status() throws(FileError) -> stat {
    var status = stat()
    guard unsafe fstat(number, &status) == 0 else { throw FileError(errno: errno, path) }
    return status
  }

  /// The next bytes, none at the end.
  package func read(upTo count: Int = 1 << 16) throws(FileError) -> [UInt8] {
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      let start = buffer.baseAddress
      let part = retrying { unsafe Glibc.read(number, start, count) }
      failure = part.errno
      filled = max(0, part.result)
    }
    guard failure == 0 else { throw FileError(errno: failure, path) }
    return bytes
  }

  package func write(_ bytes: [UInt8]) throws(FileError) {
    var written = 0
    while written < bytes.count {
      let part = unsafe bytes.withUnsafeBytes { buffer in
        retrying { unsafe Glibc.write(number, buffer.baseAddress! + written, buffer.count - written) }
      }
      guard part.result >= 0 else { throw FileError(errno: part.errno, path) }
      written += part.result
    }
  }

  package func setMode(_ mode: UInt32) throws(FileError) {
    guard fchmod(number, mode) == 0 else { throw FileError(errno: errno, path) }
  }

  package func synchronize() throws(FileError) {
    let synced = retrying { fsync(number) }
    guard synced.result == 0 else { throw FileError(errno: synced.errno, path) }
  }
}

extension OpenDirectory {
  /// For reading. Nil where there is none. Never waits for the other end of a pipe.
  /// - Throws: `symbolicLink`, `notAFile`; what the system says.
  package func file(_ name: FileName) throws(FileError) -> OpenFile? {
    let opened = retrying { unsafe openat(number, name.terminated, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
    guard opened.result >= 0 else {
      if opened.errno == ENOENT { return nil }
      throw FileError(errno: opened.errno, below(name))
    }
    let file = OpenFile(opened.result, below(name))
    guard Self.kind(try file.status()) == .file else { throw FileError(.notAFile, below(name)) }
    return file
  }

  /// Of any depth.
  package func file(_ path: RelativePath) throws(FileError) -> OpenFile? {
    guard let last = path.names.last else { return nil }
    return try directory(path.names.dropLast())?.file(last)
  }

  /// A new file for this user alone, whatever the umask says.
  /// - Throws: `exists`; what the system says.
  package func makeFile(_ name: FileName, mode: UInt32 = 0o600) throws(FileError) -> OpenFile {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let opened = retrying { unsafe openat(number, name.terminated, flags, mode) }
    guard opened.result >= 0 else { throw FileError(errno: opened.errno, below(name)) }
    let file = OpenFile(opened.result, below(name))
    try file.setMode(mode)
    return file
  }

  /// For reading and writing, made for this user alone where there is none.
  /// - Parameter isAppending: Whether every write goes to its end.
  /// - Throws: `symbolicLink`, `notAFile`; what the system says.
  package func fileToChange(_ name: FileName, isAppending: Bool = false) throws(FileError) -> OpenFile {
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (isAppending ? O_APPEND : 0)
    let opened = retrying { unsafe openat(number, name.terminated, flags, 0o600) }
    guard opened.result >= 0 else { throw FileError(errno: opened.errno, below(name)) }
    let file = OpenFile(opened.result, below(name))
    guard Self.kind(try file.status()) == .file else { throw FileError(.notAFile, below(name)) }
    return file
  }

  /// All of a small file. Nil where there is none.
  /// - Throws: `tooLarge`.
  package func contents(_ name: FileName, limit: Int) throws(FileError) -> [UInt8]? {
    guard let file = try file(name) else { return nil }
    var bytes: [UInt8] = []
    while true {
      let part = try file.read()
      if part.isEmpty { return bytes }
      bytes += part
      guard bytes.count <= limit else { throw FileError(.tooLarge, "\(below(name)): more than \(limit) bytes") }
    }
  }
}
