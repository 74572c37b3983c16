internal import CofferFiles

/// The required owner of managed settings, and of their directories up to `top`. Settings that other users could have written
/// are ignored.
public struct ManagedTrust: Sendable, Equatable {
  let owner: UInt32
  let top: String

  /// The directories from that of the file up.
  /// - Throws: `foreignOwner`, `permissionsTooOpen`; what the system says.
  func checkDirectories(of path: String) throws(PreferenceError) {
    var here = path
    // By bytes: a name that begins with a combining character forms one character with the slash before it.
    while here.utf8.count > top.utf8.count, let slash = here.utf8.lastIndex(of: UInt8(ascii: "/")), slash > here.startIndex {
      here = String(here[..<slash])
      try check(Files.existingStatus(at: here), here)
    }
  }

  func check(_ status: FileStatus, _ path: String) throws(PreferenceError) {
    guard status.owner == owner else {
      throw PreferenceError(.foreignOwner, "\(path): belongs to user \(status.owner), not to \(owner)")
    }
    guard status.mode & 0o022 == 0 else { throw PreferenceError(.permissionsTooOpen, "\(path): others may write to it") }
  }
}
