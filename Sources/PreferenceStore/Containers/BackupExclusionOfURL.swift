internal import AppContainers
import CofferFiles
public import Foundation

/// Setting `URLResourceValues.isExcludedFromBackup` has no effect on Linux. These functions do it.
extension URL {
  /// Whether backups leave out the file, or the directory with its contents.
  /// - Throws: `CocoaError`: `fileNoSuchFile`, `fileReadUnknown`.
  public func isExcludedFromBackup() throws -> Bool {
    try withName { directory, name throws(FileError) in try directory.isExcludedFromBackup(name) }
  }

  /// Marks a file or directory as excluded from backups, or removes the mark. The mark is an extended attribute: it moves with
  /// the file, and is lost if the file is replaced by a new one, as by an atomic write.
  /// - Throws: `CocoaError`: `fileNoSuchFile`; `featureUnsupported` if the file system has no extended attributes;
  ///   `fileWriteNoPermission`, `fileWriteUnknown`.
  public func setExcludedFromBackup(_ isExcluded: Bool) throws {
    try withName { directory, name throws(FileError) in try directory.setExcludedFromBackup(isExcluded, name) }
  }

  private func withName<Result>(_ body: (OpenDirectory, FileName) throws(FileError) -> Result) throws -> Result {
    do throws(FileError) {
      return try body(OpenDirectory.foreign(deletingLastPathComponent().path), FileName(lastPathComponent))
    } catch {
      throw CocoaError(error, self)
    }
  }
}

extension CocoaError {
  init(_ error: FileError, _ url: URL) {
    let code: CocoaError.Code =
      switch error.code {
      case .missing: .fileNoSuchFile
      case .attributesNotSupported: .featureUnsupported
      case .accessDenied, .readOnly: .fileWriteNoPermission
      case .nameNotAllowed: .fileWriteInvalidFileName
      default: .fileWriteUnknown
      }
    self.init(code, userInfo: [NSURLErrorKey: url, NSDebugDescriptionErrorKey: "\(error.code.name): \(error.detail)"])
  }
}
