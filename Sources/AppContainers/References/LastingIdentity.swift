internal import CLinux
package import CofferFiles
internal import Glibc

/// Which file it is, whatever it is called: its number in the file system, and when it was made. The number alone is given to
/// another file when this one is gone; the two together are not.
package struct LastingIdentity: Equatable, Sendable {
  package let inode: UInt64
  package let bornSeconds: Int64
  package let bornNanoseconds: UInt32

  package init(inode: UInt64, bornSeconds: Int64, bornNanoseconds: UInt32) {
    self.inode = inode
    self.bornSeconds = bornSeconds
    self.bornNanoseconds = bornNanoseconds
  }

  package enum Found: Equatable, Sendable {
    case nothing
    /// nil if the filesystem has no creation time of files: then only the path is known.
    case file(LastingIdentity?)
  }

  /// The file at a path, without following a link.
  /// - Throws: what the system says.
  package static func at(_ path: String) throws(FileError) -> Found {
    var status = coffer_statx()
    guard unsafe coffer_statx(path, &status) == 0 else {
      let number = errno
      if number == ENOENT || number == ENOTDIR { return .nothing }
      throw FileError(errno: number, path)
    }
    // STATX_BTIME and STATX_INO
    guard status.mask & 0x900 == 0x900 else { return .file(nil) }
    let identity = LastingIdentity(
      inode: status.inode, bornSeconds: status.born.seconds, bornNanoseconds: status.born.nanoseconds)
    return .file(identity)
  }
}
