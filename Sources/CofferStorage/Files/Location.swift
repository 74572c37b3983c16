import CofferFiles
import Glibc

/// Where a vault lies, its directory resolved: the home directory may be a symbolic link, the vault may not.
struct Location {
  let directory: String
  let name: String

  var path: String { directory == "/" ? "/\(name)" : "\(directory)/\(name)" }
  /// The side file that writers queue at.
  var lock: String { "\(path).lock" }
  /// The files that SQLite keeps beside the vault.
  var log: String { "\(path)-wal" }
  var logIndex: String { "\(path)-shm" }
  var journal: String { "\(path)-journal" }

  /// - Throws: `logWithoutVault` if one of these lies there. To be called if the vault itself does not.
  func checkHasNoLog() throws(StorageError) {
    for path in [log, journal, logIndex] where try Files.status(at: path) != nil { throw StorageError(.logWithoutVault, path) }
  }

  /// - Throws: `noVault` if there is no such directory, or no file name.
  init(_ path: String) throws(StorageError) {
    name = Path.name(of: path)
    guard !name.isEmpty, name != ".", name != "..", !path.utf8.contains(0) else {
      throw StorageError(.noVault, "\(path) is not the path of a file")
    }
    let parent = Path.parent(of: path)
    guard let resolved = unsafe realpath(parent, nil) else { throw StorageError(errno: errno, parent, missing: .noVault) }
    defer { unsafe free(resolved) }
    directory = unsafe String(cString: resolved)
  }

  /// Whether a log or journal holds changes that are not in the file.
  func hasPendingChanges() throws(StorageError) -> Bool {
    if let log = try Files.status(at: log), log.size > 0 { return true }
    if let journal = try Files.status(at: journal), journal.size > 0 { return true }
    return false
  }

  /// Whether this process may make and change files here. The system is asked, because root passes over permission bits, and
  /// neither root nor permission bits pass over a read-only file system.
  var isWritable: Bool {
    let effective = Int32(0x200)  // AT_EACCESS, hidden without _GNU_SOURCE
    guard unsafe faccessat(AT_FDCWD, directory, W_OK | X_OK, effective) == 0 else { return false }
    return unsafe faccessat(AT_FDCWD, path, W_OK, effective) == 0 || errno == ENOENT
  }
}
