internal import CofferFiles
internal import Glibc

/// Who must own managed settings, and the directories in which they lie, up to `top`. What others could have written is forced on nobody.
public struct ManagedTrust: Sendable, Equatable {
  let owner: UInt32
  let top: String

  /// The directories from that of the file up.
  /// - Throws: `foreignOwner`, `permissionsTooOpen`; what the system says.
  func checkDirectories(of path: String) throws(PreferenceError) {
    var here = path
    while here.utf8.count > top.utf8.count, let slash = here.lastIndex(of: "/"), slash > here.startIndex {
      here = String(here[..<slash])
      var status = stat()
      guard unsafe stat(here, &status) == 0 else { throw PreferenceError(errno: errno, here) }
      try check(status, here)
    }
  }

  func check(_ status: stat, _ path: String) throws(PreferenceError) {
    guard status.st_uid == owner else {
      throw PreferenceError(.foreignOwner, "\(path): belongs to user \(status.st_uid), not to \(owner)")
    }
    guard status.st_mode & 0o022 == 0 else { throw PreferenceError(.permissionsTooOpen, "\(path): others may write to it") }
  }
}
