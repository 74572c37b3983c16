import CLinux
internal import CofferFiles
import Glibc

/// Where SQLite's write-ahead log must not be used: it needs memory that all its users share, so one machine, and locks and mappings
/// that agree with one another.
enum FileSystem {
  /// Whether the write-ahead log works for files in this directory. Unknown means no: the rollback journal works everywhere.
  static func sharesMemory(at directory: String) -> Bool {
    var status = statfs()
    guard unsafe statfs(directory, &status) == 0 else { return false }
    return !SharedFileSystem.contains(type: UInt32(truncatingIfNeeded: status.f_type))
  }
}
