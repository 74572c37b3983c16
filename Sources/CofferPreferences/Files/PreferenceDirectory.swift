internal import CofferFiles
import Glibc

/// A directory with the files of preference domains.
///
/// It is made with mode 0700 at the first write. An existing one must belong to the user who writes, or to root, so that a root
/// shell leaves no files behind that the user's programs cannot change; and not everybody may write to it, as ssh(1) demands of its
/// own: whoever may can put another file in the place of each. A group may: in many systems each user has one alone.
public struct PreferenceDirectory: Hashable, Sendable {
  /// The path of the directory.
  public let path: String

  /// The directory at a path.
  public init(_ path: String) { self.path = path }

  func file(_ name: String) -> String { path.utf8.last == UInt8(ascii: "/") ? path + name : "\(path)/\(name)" }

  /// - Throws: `foreignOwner`, `permissionsTooOpen`, `accessDenied`, `readOnly`, `full`, `notAFile`, `io`.
  func make() throws(PreferenceError) {
    if try !isThere() { try make(path[...]) }
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw PreferenceError(errno: errno, path) }
    guard status.st_uid == geteuid() else { throw PreferenceError(.foreignOwner, "\(path) belongs to user \(status.st_uid)") }
    guard !Self.isOpenToAll(status) else { throw PreferenceError(.permissionsTooOpen, "\(path) may be written by everybody") }
  }

  /// Not where it is not there, or cannot be looked at.
  var isOpenToAll: Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && Self.isOpenToAll(status)
  }

  /// The sticky bit keeps others from renaming and deleting the files, as in /tmp.
  private static func isOpenToAll(_ status: stat) -> Bool { status.st_mode & 0o002 != 0 && status.st_mode & 0o1000 == 0 }

  func isThere() throws(PreferenceError) -> Bool {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      if errno == ENOENT { return false }
      throw PreferenceError(errno: errno, path)
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw PreferenceError(.notAFile, "\(path) is not a directory") }
    return true
  }

  /// With those above it.
  private func make(_ path: Substring) throws(PreferenceError) {
    if try makeOne(path) { return }
    guard errno == ENOENT, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else {
      throw PreferenceError(errno: errno, String(path))
    }
    try make(path[..<slash])
    guard try makeOne(path) else { throw PreferenceError(errno: errno, String(path)) }
  }

  /// - Returns: Whether it is there now.
  private func makeOne(_ path: Substring) throws(PreferenceError) -> Bool {
    guard unsafe mkdir(String(path), 0o700) == 0 else { return errno == EEXIST }
    // Made under a umask that takes bits from the owner.
    unsafe chmod(String(path), 0o700)
    // Its name has to be on the disk as well as what lies in it. A directory above it need not be readable.
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    try? PreferenceDirectory(parent).synchronize()
    return true
  }

  /// Returns when the names of the files are on the disk.
  func synchronize() throws(PreferenceError) {
    let opened = retrying { unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard opened.result >= 0 else { throw PreferenceError(errno: opened.errno, path) }
    defer { close(opened.result) }
    let done = retrying { fsync(opened.result) }
    // Some network file systems cannot do this, and need not.
    guard done.result == 0 || done.errno == EINVAL else { throw PreferenceError(errno: done.errno, path) }
  }
}
