internal import Glibc

extension OpenDirectory {
  /// Never follows a symbolic link, and never waits for the other end of a pipe.
  package func opened(_ name: FileName, _ flags: Int32, mode: UInt32 = 0o600) throws(FileError) -> OpenFile {
    let opened = retrying {
      unsafe openat(number, name.terminated, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode)
    }
    guard opened.result >= 0 else { throw FileError(errno: opened.errno, below(name)) }
    return OpenFile(opened.result, below(name))
  }

  /// As `opened`; nil if there is none.
  package func existing(_ name: FileName, _ flags: Int32) throws(FileError) -> OpenFile? {
    do throws(FileError) { return try opened(name, flags) } catch {
      guard error.code == .missing else { throw error }
      return nil
    }
  }

  /// Opens a file for reading. Returns nil if there is none. Never waits for the other end of a pipe.
  /// - Throws: `symbolicLink`, `notAFile`; what the system says.
  package func file(_ name: FileName) throws(FileError) -> OpenFile? {
    guard let file = try existing(name, O_RDONLY) else { return nil }
    guard try file.status().kind == .file else { throw FileError(.notAFile, file.path) }
    return file
  }

  /// The file at the end of a path.
  package func file(_ path: RelativePath) throws(FileError) -> OpenFile? {
    guard let last = path.names.last else { return nil }
    return try directory(path.names.dropLast())?.file(last)
  }

  /// A new file for this user alone, whatever the umask says.
  /// - Throws: `exists`; what the system says.
  package func makeFile(_ name: FileName, mode: UInt32 = 0o600) throws(FileError) -> OpenFile {
    let file = try opened(name, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
    try file.setMode(mode)
    return file
  }

  /// Opens a file for reading and writing; creates it for this user alone if there is none.
  /// - Parameter isAppending: Whether every write goes to its end.
  /// - Throws: `symbolicLink`, `notAFile`; what the system says.
  package func fileToChange(_ name: FileName, isAppending: Bool = false) throws(FileError) -> OpenFile {
    let file = try opened(name, O_RDWR | O_CREAT | (isAppending ? O_APPEND : 0))
    guard try file.status().kind == .file else { throw FileError(.notAFile, file.path) }
    return file
  }

  /// The content of a small file. Returns nil if there is none.
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
