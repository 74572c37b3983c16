internal import Glibc

/// One process at a time in a directory: a lock that the kernel takes back when the process dies.
package final class DirectoryLock: Sendable {
  /// Whoever has it copies executables and waits for the vault's writers.
  package static let patience = 10_000

  private let number: Int32

  /// On the file `.lock` in the directory.
  /// - Throws: `busy`; what the system says.
  package convenience init(of directory: OpenDirectory, milliseconds: Int = patience) throws(FileError) {
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
    try self.init(FileName(constant: ".lock"), in: directory, flags, milliseconds)
  }

  /// On the directory itself, where no file of ours has a place.
  /// - Throws: as above.
  package convenience init(on directory: OpenDirectory, milliseconds: Int = patience) throws(FileError) {
    try self.init(nil, in: directory, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC, milliseconds)
  }

  private init(_ name: FileName?, in directory: OpenDirectory, _ flags: Int32, _ milliseconds: Int) throws(FileError) {
    let path = name.map { directory.below($0) } ?? directory.path
    let opened = retrying { unsafe openat(directory.number, name?.terminated ?? [CChar(UInt8(ascii: ".")), 0], flags, 0o600) }
    guard opened.result >= 0 else { throw FileError(errno: opened.errno, path) }
    number = opened.result
    try FileLock(on: number).take(
      until: Deadline(milliseconds: milliseconds), pause: LockPause(20_000, upTo: 20_000), path,
      orThrow: FileError(.busy, "another process is at work in \(directory.path)"))
  }

  deinit { close(number) }
}
