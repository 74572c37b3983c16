import CofferFiles
import Glibc

// Checks before SQLite opens a file, and after it has failed.
extension OpenVault {
  static func inspect(_ location: Location) throws(StorageError) -> FileStatus {
    guard let directory = try Files.status(at: location.directory) else { throw StorageError(.noVault, location.directory) }
    try Ownership.check(directory: directory, location.directory)
    guard let file = try Files.status(at: location.path) else {
      try location.checkHasNoLog()
      throw StorageError(.noVault, location.path)
    }
    try Ownership.check(file: file, location.path, orThrow: .notAVault)
    guard file.size >= 100 else {
      let detail = "\(location.path) has \(file.size) bytes"
      if let log = try Files.status(at: location.log), log.size > 0 {
        throw lost(location, .truncated, detail) { () throws(StorageError) in try KeptLog.copy(of: location) }
      }
      throw StorageError(.notAVault, detail)
    }
    guard unsafe faccessat(AT_FDCWD, location.path, R_OK, 0x200) == 0 else { throw StorageError(errno: errno, location.path) }
    // In a directory like /tmp others may have put files where SQLite is going to look for its own.
    for path in [location.log, location.logIndex, location.journal] {
      if let status = try Files.status(at: path) { try Ownership.check(file: status, path) }
    }
    return file
  }

  /// A file that ends within a page was cut. SQLite itself refuses one that is shorter than its header says, but rounds up.
  static func checkSize(_ location: Location) throws(StorageError) {
    guard let file = try Files.status(at: location.path), file.size % Int64(Container.pageByteCount) != 0 else { return }
    // After a crash the end of the file may be torn, and whole in the log.
    guard try location.hasPendingChanges() else {
      throw StorageError(.storageDamaged, "\(location.path) is cut off within a page")
    }
  }

  /// The error for a vault whose file or log is lost, with its log copied.
  /// - Parameter copy: Makes the copy, and returns its path; nil if there is nothing in the log.
  static func lost(
    _ location: Location, _ code: StorageError.Code, _ detail: String, copy: () throws(StorageError) -> String?
  ) -> StorageError {
    do throws(StorageError) {
      guard let copy = try copy() else { return StorageError(code, detail) }
      return StorageError(code, "\(detail); its log was copied to \(copy)")
    } catch {
      return StorageError(code, "\(detail); its log \(location.log) could not be copied: \(error)")
    }
  }
}
