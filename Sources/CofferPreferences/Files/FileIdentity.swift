internal import CofferFiles

/// Which state of a file it is. Not the time of its last status change: to rename a file sets that.
struct FileIdentity: Equatable, Sendable {
  let inode: UInt64
  let size: UInt64
  /// The time of the last change of the content, in nanoseconds since 1970.
  let modified: Int64

  init(inode: UInt64, size: UInt64, modified: Int64) {
    self.inode = inode
    self.size = size
    self.modified = modified
  }

  init(_ status: FileStatus) {
    self.init(inode: status.inode, size: UInt64(max(0, status.size)), modified: status.modified)
  }

  /// Returns nil if there is no file at the path.
  /// - Throws: `symbolicLink`, `notAFile`, `accessDenied`, `io`.
  static func at(_ path: String) throws(PreferenceError) -> FileIdentity? {
    guard let status = try Files.status(at: path) else { return nil }
    switch status.kind {
    case .file: return FileIdentity(status)
    case .link: throw PreferenceError(.symbolicLink, path)
    case .directory, .other: throw PreferenceError(.notAFile, path)
    }
  }
}
