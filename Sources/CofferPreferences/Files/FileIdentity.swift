import CofferFiles
import Glibc

/// Which state of a file it is. Not the time of its last status change: to rename a file sets that.
struct FileIdentity: Equatable, Sendable {
  let inode: UInt64
  let size: UInt64
  /// Of the last change of the content, in nanoseconds since 1970.
  let modified: Int64

  init(inode: UInt64, size: UInt64, modified: Int64) {
    self.inode = inode
    self.size = size
    self.modified = modified
  }

  init(_ status: stat) {
    self.init(
      inode: UInt64(status.st_ino), size: UInt64(max(0, status.st_size)),
      modified: Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec))
  }

  /// Nil where nothing lies at the path.
  /// - Throws: `symbolicLink`, `notAFile`, `accessDenied`, `io`.
  static func at(_ path: String) throws(PreferenceError) -> FileIdentity? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw PreferenceError(errno: errno, path)
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return FileIdentity(status)
    case S_IFLNK: throw PreferenceError(.symbolicLink, path)
    default: throw PreferenceError(.notAFile, path)
    }
  }
}
