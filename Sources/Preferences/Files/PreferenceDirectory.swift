import Glibc

/// A directory with the files of preference domains.
///
/// It is made with mode 0700 at the first write. An existing one must belong to the user who writes, or to root, so that a root
/// shell leaves no files behind that the user's programs cannot change.
public struct PreferenceDirectory: Hashable, Sendable {
  public let path: String

  public init(_ path: String) { self.path = path }

  func file(_ name: String) -> String { path.utf8.last == UInt8(ascii: "/") ? path + name : "\(path)/\(name)" }

  /// - Throws: `foreignOwner`, `accessDenied`, `readOnly`, `full`, `notAFile`, `io`.
  func make() throws(PreferenceError) {
    if try !isThere() { try make(path[...]) }
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw PreferenceError(errno: errno, path) }
    guard status.st_uid == geteuid() else { throw PreferenceError(.foreignOwner, "\(path) belongs to user \(status.st_uid)") }
  }

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
    if unsafe mkdir(String(path), 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else {
      throw PreferenceError(errno: errno, String(path))
    }
    try make(path[..<slash])
    guard unsafe mkdir(String(path), 0o700) == 0 || errno == EEXIST else { throw PreferenceError(errno: errno, String(path)) }
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
