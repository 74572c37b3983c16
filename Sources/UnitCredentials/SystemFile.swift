package import CofferFiles
internal import Glibc

/// A small file for all users to read, in a directory of its own for one service.
package struct SystemFile: Sendable {
  private let directory: String
  private let name: String

  package var path: String { Path.join(directory, name) }

  package init(directory: String, name: String) { (self.directory, self.name) = (directory, name) }

  /// In the place of the file that is there, in one step; it is on the disk when this returns. Directories that are missing are made.
  /// - Throws: `FileError`.
  package func write(_ text: String) throws(FileError) {
    try makeDirectory(directory)
    let new = try NewFile<FileError>(at: TemporaryName.next(for: path), named: path)
    try new.file.write(Array(text.utf8))
    try new.file.setMode(0o644)
    try new.file.synchronize()
    _ = try new.replace(path)
    try Files<FileError>.synchronizeDirectory(directory)
  }

  /// Removes the directory too, if nothing else is in it.
  /// - Returns: Whether there was a file.
  /// - Throws: `FileError`.
  package func remove() throws(FileError) -> Bool {
    guard unsafe unlink(path) == 0 else {
      let number = errno
      guard number == ENOENT || number == ENOTDIR else { throw FileError(errno: number, path) }
      return false
    }
    try Files<FileError>.synchronizeDirectory(directory)
    _ = unsafe rmdir(directory)
    return true
  }

  private func makeDirectory(_ path: String) throws(FileError) {
    guard unsafe mkdir(path, 0o755) != 0 else {
      // The umask may take bits from others, who read it.
      _ = unsafe chmod(path, 0o755)
      return try Files<FileError>.synchronizeDirectory(Path.parent(of: path))
    }
    let number = errno
    if number == EEXIST { return }
    let parent = Path.parent(of: path)
    guard number == ENOENT, parent != path, parent != "." else { throw FileError(errno: number, path) }
    try makeDirectory(parent)
    guard unsafe mkdir(path, 0o755) == 0 || errno == EEXIST else { throw FileError(errno: errno, path) }
    _ = unsafe chmod(path, 0o755)
  }
}
