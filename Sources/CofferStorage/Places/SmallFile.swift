import CofferFiles
import Glibc

/// Whole files of a few bytes, for this user alone: written under another name and then put in place.
enum SmallFile {
  /// Opens it for reading, after the same checks as for a vault. Returns nil if there is none.
  static func open(_ path: String) throws(StorageError) -> OpenFile? {
    guard let now = try Files.status(at: path) else { return nil }
    // Before it is opened, too: opening some devices does something.
    try Ownership.check(file: now, path)
    // Another process may remove it in between, as SQLite does with the log as the last connection closes.
    guard let descriptor = try OpenFile.open(path, O_RDONLY) else { return nil }
    try Ownership.check(file: descriptor.status(), path)
    return descriptor
  }

  enum Durability { case durable, notSynced }

  /// - Parameter replacing: Whether a file may be there already.
  static func write(_ bytes: RawSpan, to path: String, replacing: Bool, _ durability: Durability) throws(StorageError) {
    let new = try NewFile(at: TemporaryName.next(for: path))
    try new.file.write(bytes)
    if durability == .durable { try new.file.synchronize() }
    if replacing {
      _ = try new.replace(path)
    } else {
      guard try new.appear(at: path) else { throw StorageError(.vaultExists, path) }
    }
    if durability == .durable { try Files.synchronizeDirectory(Path.parent(of: path)) }
  }
}
