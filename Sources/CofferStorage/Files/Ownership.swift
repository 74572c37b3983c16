import CofferFiles
import Glibc

/// Checks which users could have written a file, by the rules of ssh for key files.
///
/// The core proves every row, so a stranger's bytes do no harm to secrecy. These rules guard what proofs cannot: that the vault
/// is still there tomorrow, that it is not exchanged for an older one, and that a root shell does not leave files in another's
/// vault.
enum Ownership {
  /// The file itself: regular, ours or root's, and not to be written by others.
  /// - Parameter code: The error if it is not a regular file: the vault is sound if something else lies beside it.
  static func check(
    file: FileStatus, _ path: String, orThrow code: StorageError.Code = .notAFile
  ) throws(StorageError) {
    switch file.kind {
    case .file: break
    case .link: throw StorageError(.symbolicLink, path)
    case .directory, .other: throw StorageError(code, "\(path) is not a regular file")
    }
    try checkOwner(file, path)
    guard file.mode & 0o022 == 0 else { throw StorageError(.permissionsTooOpen, "\(path) may be written by others") }
  }

  /// Its directory. Where others may write to it the sticky bit must keep them from renaming and deleting our files, as in /tmp.
  ///
  /// The directories above are not looked at: in a container they may belong to unknown users, and a user who can exchange them can
  /// keep us from the vault in simpler ways.
  static func check(directory: FileStatus, _ path: String) throws(StorageError) {
    guard directory.kind == .directory else { throw StorageError(.noVault, "\(path) is not a directory") }
    try checkOwner(directory, path)
    guard directory.mode & 0o022 == 0 || directory.mode & 0o1000 != 0 else {
      throw StorageError(.permissionsTooOpen, "\(path) may be written by others")
    }
  }

  private static func checkOwner(_ file: FileStatus, _ path: String) throws(StorageError) {
    guard file.owner == geteuid() || file.owner == 0 else {
      throw StorageError(.foreignOwner, "\(path) belongs to user \(file.owner)")
    }
  }
}
