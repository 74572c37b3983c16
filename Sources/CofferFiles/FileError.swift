internal import Glibc

/// Why something could not be done with a file or directory. One code for each cause; the detail names what.
package struct FileError: Error, Equatable, Sendable {
  package enum Code: String, CaseIterable, Sendable {
    // The request
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

    // The file at the path
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

    // Errors of the system
    case accessDenied
    case readOnly
    case full
    case busy
    case descriptorsExhausted
    case outOfMemory
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

  /// The error for a failed system call.
  package init(errno number: Int32, _ subject: String) {
    self.init(Code(errno: number), "\(subject): \(ErrorNumber.text(of: number))")
  }

  /// Matches `catch FileError(.busy)`.
  package static func ~= (pattern: FileError, error: any Error) -> Bool { (error as? FileError) == pattern }
  package static func == (left: FileError, right: FileError) -> Bool { left.code == right.code }
}

extension FileError.Code {
  /// The one table of what an error number means to those who work with files. Each module's errors are made from these codes.
  package init(errno number: Int32) {
    self =
      switch number {
      case ENOENT: .missing
      case EEXIST, ENOTEMPTY: .exists
      case ELOOP: .symbolicLink
      case ENOTDIR: .notADirectory
      case EISDIR, ENXIO: .notAFile
      case EACCES, EPERM: .accessDenied
      case EROFS: .readOnly
      case ENOSPC, EDQUOT: .full
      case EMFILE, ENFILE: .descriptorsExhausted
      case ENOMEM: .outOfMemory
      case ENAMETOOLONG, EILSEQ: .nameNotAllowed
      default: .io
      }
  }
}

/// The errors of a module, made from those of this one.
package protocol FileFailure: Error {
  init(_ error: FileError)
}

extension FileFailure {
  /// The error for a failed system call.
  package init(errno number: Int32, _ subject: String) { self.init(FileError(errno: number, subject)) }
}

extension FileError: FileFailure {
  package init(_ error: FileError) { self = error }
}
