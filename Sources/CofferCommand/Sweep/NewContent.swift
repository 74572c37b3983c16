import CofferConsole
import CofferFiles
import Glibc
import SecretMemory

/// A file at a path that has none yet.
enum NewContent {
  /// - Parameter mode: The permissions that it has once it is whole.
  /// - Throws: I/O; other, if another program makes it at this moment.
  static func place(_ bytes: borrowing Secret, at path: String, mode: UInt32 = 0o600) throws {
    // A run that was killed has left what it had not yet given its name.
    try TemporaryName.removeLeftovers(for: path)
    let new = try NewFile<FileError>(at: TemporaryName.next(for: path), named: path)
    try bytes.withBytes { (bytes) throws(FileError) in try new.file.write(bytes) }
    try new.file.setMode(mode)
    try new.file.synchronize()
    guard try new.appear(at: path) else { throw Failure(.other, "\(path): was made at this moment") }
    try Files<FileError>.synchronizeDirectory(Path.parent(of: path))
  }
}

extension TemporaryName {
  /// Removes files of processes that were killed.
  static func removeLeftovers(for path: String) throws {
    for left in leftovers(of: Path.name(of: path), in: Path.parent(of: path)) {
      try ifDead(left) { try Files<FileError>.remove(left) }
    }
  }

  /// The files of processes that were killed. One that cannot be opened may be among them.
  static func deadLeftovers(for path: String) -> [String] {
    leftovers(of: Path.name(of: path), in: Path.parent(of: path)).filter { left in
      do {
        var isDead = false
        try ifDead(left) { isDead = true }
        return isDead
      } catch { return true }
    }
  }

  /// Files of a process that runs are locked, see `NewFile`. Ours are regular ones of this user: a link in a project, or a pipe of
  /// another user, would be in the way of each file of that name.
  private static func ifDead(_ left: String, _ body: () throws -> Void) throws {
    guard let status = try Files<FileError>.status(at: left), status.kind == .file, status.owner == geteuid(),
      let file = try OpenFile.open(left, FileAttributes.readOnly)
    else { return }
    if flock(file.number, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK { try body() }
  }
}
