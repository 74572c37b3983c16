import CofferFiles
import Glibc

/// Follows a symbolic link that its owner has put in the place of a file, as programs that manage dotfiles do.
///
/// The links must belong to this user or to root, and so must the directory that they lead to and all above it, none of which everybody
/// may write to without the sticky bit: then nobody else can have turned a link, or can put another file at its end.
enum LinkedFile {
  /// As open(2) of Linux counts links, less.
  private static let maximumLinkCount = 16

  /// - Returns: The path itself if no link lies there; else the path at the end of the links, free of others. Nothing need be there.
  /// - Throws: `symbolicLink` for too many links, `foreignOwner`, `permissionsTooOpen`, `notAFile`, `accessDenied`, `io`.
  static func resolve(_ path: String) throws(PreferenceError) -> String {
    var here = path
    for _ in 0..<maximumLinkCount {
      var status = stat()
      guard unsafe lstat(here, &status) == 0 else {
        guard errno == ENOENT else { throw PreferenceError(errno: errno, here) }
        return here == path ? path : try place(here)
      }
      guard status.st_mode & S_IFMT == S_IFLNK else {
        guard here != path else { return path }
        try check(status, here)
        return try place(here)
      }
      try check(status, here, isLink: true)
      let target = try content(of: here)
      here = target.utf8.first == UInt8(ascii: "/") ? target : PreferenceDirectory(parent(of: here)).file(target)
    }
    throw PreferenceError(.symbolicLink, "\(path): too many symbolic links")
  }

  /// As `resolve`, for a file that another program has written: it must belong to this user or to root where no link leads to it, too.
  /// - Throws: As `resolve`.
  static func resolveForeign(_ path: String) throws(PreferenceError) -> String {
    let real = try resolve(path)
    var status = stat()
    guard unsafe lstat(real, &status) == 0 else { return real }
    try check(status, real)
    return real == path ? try place(path) : real
  }

  static func parent(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The same file in its directory by the path that has no links.
  private static func place(_ path: String) throws(PreferenceError) -> String {
    guard let real = unsafe realpath(parent(of: path), nil) else { throw PreferenceError(errno: errno, path) }
    defer { unsafe free(real) }
    var directory = unsafe String(cString: real)
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.startIndex
    let file = PreferenceDirectory(directory).file(String(path[slash...]))
    while true {
      var status = stat()
      guard unsafe stat(directory, &status) == 0 else { throw PreferenceError(errno: errno, directory) }
      try check(status, directory)
      guard directory != "/" else { return file }
      directory = parent(of: directory)
    }
  }

  private static func check(_ status: stat, _ path: String, isLink: Bool = false) throws(PreferenceError) {
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw PreferenceError(.foreignOwner, "\(path) belongs to user \(status.st_uid)")
    }
    // All links have mode 0777.
    guard !isLink, status.st_mode & 0o002 != 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_mode & 0o1000 != 0 else {
      throw PreferenceError(.permissionsTooOpen, "\(path) may be written by everybody")
    }
  }

  private static func content(of link: String) throws(PreferenceError) -> String {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe readlink(link, $0.baseAddress!, $0.count) }
    guard count >= 0 else { throw PreferenceError(errno: errno, link) }
    guard let text = String(validating: bytes.prefix(count), as: UTF8.self), !text.isEmpty else {
      throw PreferenceError(.symbolicLink, "\(link): does not lead to a path in UTF-8")
    }
    return text
  }
}
