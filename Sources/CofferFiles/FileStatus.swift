internal import CLinux
internal import Glibc

/// The result of lstat(2) or fstat(2).
package struct FileStatus: Equatable, Sendable {
  package enum Kind: Sendable { case file, directory, link, other }

  package let kind: Kind
  package let owner: UInt32
  package let group: UInt32
  /// The permission bits.
  package let mode: UInt32
  /// 0: the file was deleted, and is only open.
  package let links: UInt64
  package let size: Int64
  package let device: UInt64
  package let inode: UInt64
  /// Nanoseconds since 1970 of the last change of the content.
  package let modified: Int64
  /// The same, of the content or of the attributes, such as the name.
  package let changed: Int64

  init(_ status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .directory
      case S_IFLNK: .link
      default: .other
      }
    owner = status.st_uid
    group = status.st_gid
    mode = status.st_mode & 0o7777
    links = UInt64(status.st_nlink)
    size = Int64(status.st_size)
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    changed = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
  }

  package func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}
