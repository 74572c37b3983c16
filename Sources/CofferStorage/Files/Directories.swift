import CofferFiles
import Glibc

/// Makes directories, those above as well, for this user alone. What exists already stays as it is.
enum Directories {
  /// - Throws: `accessDenied`, `readOnly`, `full`, `io`.
  static func create(_ path: String) throws(StorageError) {
    if try FileStatus.at(path) != nil || path.isEmpty { return }
    try create(Location.parent(of: path))
    if unsafe mkdir(path, 0o700) == 0 {
      // Whatever the umask says: without x the owner could not use it.
      guard unsafe chmod(path, 0o700) == 0 else { throw StorageError(errno: errno, path) }
      // A vault in a directory that a power loss takes away would be lost with it.
      try synchronize(Location.parent(of: path))
    } else if errno != EEXIST {
      throw StorageError(errno: errno, path)
    }
  }

  static func synchronize(_ path: String) throws(StorageError) {
    // Resolved first: the parent may be a symbolic link, as a home directory may.
    guard let resolved = unsafe realpath(path, nil) else { throw StorageError(errno: errno, path) }
    defer { unsafe free(resolved) }
    let directory = try Descriptor(unsafe String(cString: resolved), O_RDONLY | O_DIRECTORY)
    try directory.synchronize()
  }
}
