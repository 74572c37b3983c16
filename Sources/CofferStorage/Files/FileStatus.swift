import CofferFiles
import Glibc

/// What lstat(2) and fstat(2) say about a file.
struct FileStatus: Equatable {
  enum Kind { case regular, directory, symbolicLink, other }

  let kind: Kind
  let owner: uid_t
  let mode: mode_t
  let links: UInt64
  let size: Int64
  let device: UInt64
  let inode: UInt64
  /// Nanoseconds of the last change, of content or of attributes.
  let changed: Int64

  init(_ status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .directory
      case S_IFLNK: .symbolicLink
      default: .other
      }
    owner = status.st_uid
    mode = status.st_mode & 0o7777
    links = UInt64(status.st_nlink)
    size = Int64(status.st_size)
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    changed = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
  }

  /// The file itself, also where it is a symbolic link. Nil where there is none.
  static func at(_ path: String) throws(StorageError) -> FileStatus? {
    var status = stat()
    if unsafe lstat(path, &status) == 0 { return FileStatus(status) }
    let number = errno
    if number == ENOENT || number == ENOTDIR { return nil }
    throw StorageError(errno: number, path)
  }

  func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}
