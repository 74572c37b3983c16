internal import CLinux
internal import Glibc

/// Operations on files by their paths. Each module has them with its own errors: `typealias Files =
/// CofferFiles.Files<ModuleError>`.
package enum Files<Failure: FileFailure> {
  /// The status of the file at a path; of a link itself, unless it is followed. nil if there is none.
  package static func status(at path: String, followingLinks: Bool = false) throws(Failure) -> FileStatus? {
    var status = stat()
    let done = followingLinks ? unsafe stat(path, &status) : unsafe lstat(path, &status)
    if done == 0 { return FileStatus(status) }
    let number = errno
    if number == ENOENT || number == ENOTDIR { return nil }
    throw Failure(errno: number, path)
  }

  /// As `status`, following links, of what must be there.
  package static func existingStatus(at path: String) throws(Failure) -> FileStatus {
    guard let status = try status(at: path, followingLinks: true) else { throw Failure(errno: ENOENT, path) }
    return status
  }

  /// The status of an open file or directory.
  package static func status(of descriptor: Int32, _ path: String) throws(Failure) -> FileStatus {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw Failure(errno: errno, path) }
    return FileStatus(status)
  }

  /// Makes a directory and its parents, for this user alone. Existing ones stay as they are.
  /// - Parameter synchronizeParent: Called after each one that was made: a power loss may take away its name, with all that is
  ///   in it.
  package static func makeDirectory(
    _ path: String, synchronizeParent: (String) throws(Failure) -> Void = { _ in }
  ) throws(Failure) {
    try make(path, isParentThere: false, synchronizeParent)
  }

  /// - Parameter isParentThere: Whether the parent exists. If nothing can be made in it, as in `/proc` or through a link that
  ///   leads nowhere, the recursion ends.
  private static func make(
    _ path: String, isParentThere: Bool, _ synchronizeParent: (String) throws(Failure) -> Void
  ) throws(Failure) {
    if unsafe mkdir(path, 0o700) == 0 {
      // The umask may take bits from the owner, who could not use a directory without x.
      _ = unsafe chmod(path, 0o700)
      return try synchronizeParent(Path.parent(of: path))
    }
    let number = errno
    if number == EEXIST { return }
    let parent = Path.parent(of: path)
    guard number == ENOENT, !isParentThere, parent != ".", parent != "/" else { throw Failure(errno: number, path) }
    try make(parent, isParentThere: false, synchronizeParent)
    try make(path, isParentThere: true, synchronizeParent)
  }

  /// Returns when the names in a directory are on the disk.
  package static func synchronizeDirectory(_ path: String) throws(Failure) {
    // Its path may lead through links, as that of a home directory may.
    let opened = retrying { unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard opened.result >= 0 else { throw Failure(errno: opened.errno, path) }
    defer { close(opened.result) }
    let synced = retrying { fsync(opened.result) }
    // EINVAL: a filesystem whose directories have no fsync.
    guard synced.result == 0 || synced.errno == EINVAL else { throw Failure(errno: synced.errno, path) }
  }

  /// Removes the name of a file, if it is there.
  package static func remove(_ path: String) throws(Failure) {
    guard unsafe unlink(path) == 0 || errno == ENOENT else { throw Failure(errno: errno, path) }
  }

  package static func rename(_ path: String, to new: String) throws(Failure) {
    guard unsafe Glibc.rename(path, new) == 0 else { throw Failure(errno: errno, new) }
  }

  /// - Returns: false if the new name is taken.
  package static func renameWithoutReplacing(_ path: String, to new: String) throws(Failure) -> Bool {
    let number = unsafe renamingExclusively(AT_FDCWD, path, AT_FDCWD, new)
    guard number == 0 || number == EEXIST else { throw Failure(errno: number, new) }
    return number == 0
  }
}

/// Renames a file, and never replaces another.
/// - Returns: 0, or the errno.
@unsafe func renamingExclusively(
  _ directory: Int32, _ name: UnsafePointer<CChar>, _ target: Int32, _ new: UnsafePointer<CChar>
) -> Int32 {
  if unsafe coffer_rename_exclusive(directory, name, target, new) == 0 { return 0 }
  guard errno == EINVAL || errno == ENOSYS else { return errno }
  // A file system that cannot rename so, as that of NFS, can make a second name, which does not replace either.
  guard unsafe linkat(directory, name, target, new, 0) == 0 else { return errno }
  _ = unsafe unlinkat(directory, name, 0)
  return 0
}
