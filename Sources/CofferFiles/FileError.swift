internal import Glibc

/// Why something could not be done with the directories of an app. One code for each cause; the detail names what.
package struct FileError: Error, Equatable, Sendable {
  package enum Code: String, CaseIterable, Sendable {
    // What was asked for
    /// No name of one file: empty, `.`, `..`, with `/` or a zero byte, too long; no path below a directory.
    case nameNotAllowed
    case missing
    case exists
    /// The app may not make anything in this directory.
    case readOnlyDirectory
    /// A program of the app is running.
    case running
    /// The file system keeps no attributes of files.
    case attributesNotSupported

    // What lies there
    case symbolicLink
    case notADirectory
    case notAFile
    case foreignOwner
    case permissionsTooOpen
    /// More levels of directories than are gone into.
    case tooDeep
    case tooLarge

    // Archives
    /// It holds what a backup never does: another place, a link that leaves it, a device.
    case archiveRefused
    /// It is the backup of another app, or says of none.
    case archiveOfAnotherApp
    /// The system has no tar.
    case toolMissing
    case toolFailed

    // What the system could not do
    case accessDenied
    case readOnly
    case full
    case busy
    case descriptorsExhausted
    case io

    package var name: String { rawValue }
  }

  package let code: Code
  /// For people. Not compared.
  package let detail: String

  package init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }

  package init(errno number: Int32, _ subject: String) {
    let code: Code =
      switch number {
      case ENOENT: .missing
      case EEXIST, ENOTEMPTY: .exists
      case ELOOP: .symbolicLink
      case ENOTDIR: .notADirectory
      case EISDIR: .notAFile
      case EACCES, EPERM: .accessDenied
      case EROFS: .readOnly
      case ENOSPC, EDQUOT: .full
      case EMFILE, ENFILE: .descriptorsExhausted
      case ENAMETOOLONG, EILSEQ: .nameNotAllowed
      default: .io
      }
    self.init(code, "\(subject): \(ErrorNumber.text(of: number))")
  }

  /// Matches `catch FileError(.busy)`.
  package static func ~= (pattern: FileError, error: any Error) -> Bool { (error as? FileError) == pattern }
  package static func == (left: FileError, right: FileError) -> Bool { left.code == right.code }
}
