internal import AppContainers
internal import CLinux
import CofferFiles
internal import Glibc

/// The identity of a file, independent of its name.
struct FileIdentity: Equatable, Sendable {
  private let device: dev_t
  private let inode: ino_t

  private init(_ status: stat) {
    device = status.st_dev
    inode = status.st_ino
  }

  /// The identity of an open file or directory.
  init(of number: Int32, _ path: String) throws(WidgetError) { self.init(try Self.status(of: number, path)) }

  /// The identity of the file with this name. nil if there is none.
  init?(_ name: FileName, in directory: OpenDirectory) throws(WidgetError) {
    var status = stat()
    guard unsafe fstatat(directory.number, "\(name)", &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      if errno == ENOENT { return nil }
      throw WidgetError(errno: errno, directory.below(name))
    }
    self.init(status)
  }

  private static func status(of number: Int32, _ path: String) throws(WidgetError) -> stat {
    var status = stat()
    guard unsafe fstat(number, &status) == 0 else { throw WidgetError(errno: errno, path) }
    return status
  }
}
