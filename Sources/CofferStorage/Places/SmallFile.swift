import CofferFiles
import Glibc

/// Whole files of a few bytes, for this user alone: written under another name and then put in place.
enum SmallFile {
  /// Opened for reading, after the same checks as for a vault. Nil where there is none.
  static func open(_ path: String) throws(StorageError) -> Descriptor? {
    guard let now = try FileStatus.at(path) else { return nil }
    // Before it is opened, too: opening some devices does something.
    try Ownership.check(file: now, path)
    let descriptor = try Descriptor(path, O_RDONLY)
    try Ownership.check(file: descriptor.status(), path)
    return descriptor
  }

  enum Durability { case durable, atTheSystemsLeisure }

  /// - Parameter replacing: Whether a file may be there already.
  static func write(_ bytes: RawSpan, to path: String, replacing: Bool, _ durability: Durability) throws(StorageError) {
    let temporary = TemporaryName.next(for: path)
    do throws(StorageError) {
      let file = try Descriptor(temporary, O_WRONLY | O_CREAT | O_EXCL)
      try file.setMode(0o600)
      try file.write(bytes)
      if durability == .durable { try file.synchronize() }
      if replacing {
        guard unsafe rename(temporary, path) == 0 else { throw StorageError(errno: errno, path) }
      } else {
        try TemporaryName.moveWithoutReplacing(temporary, to: path)
      }
    } catch {
      unsafe unlink(temporary)
      throw error
    }
    if durability == .durable { try Directories.synchronize(Location.parent(of: path)) }
  }
}
