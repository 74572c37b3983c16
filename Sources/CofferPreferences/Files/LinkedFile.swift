import CofferFiles
import Glibc

/// Follows a symbolic link that its owner has put in the place of a file, as programs that manage dotfiles do.
///
/// The links must belong to this user or to root, and so must the directory that they lead to and all above it, none of which everybody
/// may write to without the sticky bit: then no other user can have turned a link, or can put another file at its end.
enum LinkedFile {
  /// As open(2) of Linux counts links, less.
  private static let maximumLinkCount = 16

  /// - Returns: The path itself if no link lies there; else the path at the end of the links, free of others. Nothing need be there.
  /// - Throws: `symbolicLink` for too many links, `foreignOwner`, `permissionsTooOpen`, `notAFile`, `accessDenied`, `io`.
  static func resolve(_ path: String) throws(PreferenceError) -> String {
    var here = path
    for _ in 0..<maximumLinkCount {
      guard let status = try Files.status(at: here) else { return here == path ? path : try place(here) }
      guard status.kind == .link else {
        guard here != path else { return path }
        try check(status, here)
        return try place(here)
      }
      try check(status, here, isLink: true)
      let target = try content(of: here)
      here = target.utf8.first == UInt8(ascii: "/") ? target : Path.join(Path.parent(of: here), target)
    }
    throw PreferenceError(.symbolicLink, "\(path): too many symbolic links")
  }

  /// As `resolve`, for a file that another program has written: it must belong to this user or to root where no link leads to it, too.
  /// - Throws: As `resolve`.
  static func resolveForeign(_ path: String) throws(PreferenceError) -> String {
    let real = try resolve(path)
    guard let status = (try? Files.status(at: real)) ?? nil else { return real }
    try check(status, real)
    return real == path ? try place(path) : real
  }

  /// The same file in its directory by the path that has no links.
  private static func place(_ path: String) throws(PreferenceError) -> String {
    guard let real = unsafe realpath(Path.parent(of: path), nil) else { throw PreferenceError(errno: errno, path) }
    defer { unsafe free(real) }
    var directory = unsafe String(cString: real)
    let file = Path.join(directory, Path.name(of: path))
    while true {
      try check(Files.existingStatus(at: directory), directory)
      guard directory != "/" else { return file }
      directory = Path.parent(of: directory)
    }
  }

  private static func check(_ status: FileStatus, _ path: String, isLink: Bool = false) throws(PreferenceError) {
    guard status.owner == geteuid() || status.owner == 0 else {
      throw PreferenceError(.foreignOwner, "\(path) belongs to user \(status.owner)")
    }
    // All links have mode 0777.
    guard !isLink, status.mode & 0o002 != 0 else { return }
    guard status.kind == .directory, status.mode & 0o1000 != 0 else {
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
