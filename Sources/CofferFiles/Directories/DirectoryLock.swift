internal import Glibc

/// One process at a time in a directory: a lock that the kernel takes back when the process dies.
package final class DirectoryLock: Sendable {
  /// The limit in milliseconds: the holder copies executables and waits for the vault's writers.
  package static let patience = 10_000

  private let file: OpenFile

  /// On the file `.lock` in the directory.
  /// - Throws: `busy`; what the system says.
  package convenience init(of directory: OpenDirectory, milliseconds: Int = patience) throws(FileError) {
    try self.init(directory.opened(FileName(constant: ".lock"), O_RDWR | O_CREAT), directory.path, milliseconds)
  }

  /// On the directory itself, where no file of ours has a place.
  /// - Throws: as above.
  package convenience init(on directory: OpenDirectory, milliseconds: Int = patience) throws(FileError) {
    let opened = retrying { unsafe openat(directory.number, ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC) }
    guard opened.result >= 0 else { throw FileError(errno: opened.errno, directory.path) }
    try self.init(OpenFile(opened.result, directory.path), directory.path, milliseconds)
  }

  private init(_ file: OpenFile, _ directory: String, _ milliseconds: Int) throws(FileError) {
    self.file = file
    try FileLock(on: file.number).take(
      until: Deadline(milliseconds: milliseconds), pause: LockPause(20_000, upTo: 20_000), file.path,
      orThrow: FileError(.busy, "another process is at work in \(directory)"))
  }
}
