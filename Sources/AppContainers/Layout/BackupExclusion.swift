internal import CLinux
package import CofferFiles
internal import Glibc

/// A file or directory that a backup is to leave out, though its class is backed up: an extended attribute, which goes where the
/// file goes. (A list of paths would be wrong after the first rename.)
///
/// Where the file system keeps no such attributes it is an error, and the file belongs into `Library/Caches` or `tmp`: to take
/// note elsewhere would be to promise what the next rename breaks.
extension OpenDirectory {
  private static var attribute: String { "user.coffer.excluded-from-backup" }

  /// - Throws: `missing`; `attributesNotSupported`; `notAFile` for what is neither file nor directory; what the system says.
  package func setExcludedFromBackup(_ isExcluded: Bool, _ name: FileName) throws(FileError) {
    try withMarkable(name) { number throws(FileError) in
      let result =
        isExcluded
        ? unsafe fsetxattr(number, Self.attribute, "1", 1, 0) : unsafe fremovexattr(number, Self.attribute)
      guard result != 0, errno != ENODATA else { return }
      throw Self.error(errno, below(name))
    }
  }

  /// Returns false if the filesystem has no extended attributes.
  package func isExcludedFromBackup(_ name: FileName) throws(FileError) -> Bool {
    switch try kind(name) {
    case .file?, .directory?: break
    case nil: throw FileError(.missing, below(name))
    default: return false
    }
    return try withMarkable(name) { number throws(FileError) in
      if unsafe fgetxattr(number, Self.attribute, nil, 0) >= 0 { return true }
      guard errno == ENODATA || errno == ENOTSUP else { throw Self.error(errno, below(name)) }
      return false
    }
  }

  private func withMarkable<Result>(_ name: FileName, _ body: (Int32) throws(FileError) -> Result) throws(FileError)
    -> Result
  {
    if try kind(name) == .directory, let directory = try directory(name) { return try body(directory.number) }
    guard let file = try file(name) else { throw FileError(.missing, below(name)) }
    return try body(file.number)
  }

  private static func error(_ number: Int32, _ path: String) -> FileError {
    number == ENOTSUP ? FileError(.attributesNotSupported, path) : FileError(errno: number, path)
  }
}
