internal import AppContainers
public import Foundation

/// `URLResourceValues.isExcludedFromBackup` can be set on Linux, and nothing comes of it. These do what it says.
extension URL {
  /// Whether a backup leaves out the file, or the directory with what is in it.
  /// - Throws: `CocoaError`: `fileNoSuchFile`, `fileReadUnknown`.
  public func isExcludedFromBackup() throws -> Bool {
    try withName { directory, name throws(ContainerError) in try directory.isExcludedFromBackup(name) }
  }

  /// Marks a file or directory, or takes the mark away. The mark is an extended attribute, goes where the file goes, and does not come
  /// along when a file is replaced by a new one, as an atomic write does.
  /// - Throws: `CocoaError`: `fileNoSuchFile`; `featureUnsupported` where the file system keeps no attributes; `fileWriteNoPermission`,
  ///   `fileWriteUnknown`.
  public func setExcludedFromBackup(_ isExcluded: Bool) throws {
    try withName { directory, name throws(ContainerError) in try directory.setExcludedFromBackup(isExcluded, name) }
  }

  private func withName<Result>(_ body: (OpenDirectory, FileName) throws(ContainerError) -> Result) throws -> Result {
    do throws(ContainerError) {
      return try body(OpenDirectory.foreign(deletingLastPathComponent().path), FileName(lastPathComponent))
    } catch {
      throw CocoaError(error, self)
    }
  }
}

extension CocoaError {
  init(_ error: ContainerError, _ url: URL) {
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
