internal import Glibc

/// Why something could not be done with the directories of an app. One code for each cause; the detail names what.
package struct ContainerError: Error, Equatable, Sendable {
  package struct Code: Hashable, Sendable {
    package let name: String
    private init(_ name: String) { self.name = name }

    // What was asked for
    /// No name of one file: empty, `.`, `..`, with `/` or a zero byte, too long; no path below a directory.
    package static let nameNotAllowed = Self("nameNotAllowed")
    package static let missing = Self("missing")
    package static let exists = Self("exists")
    /// The app may not make anything in this directory.
    package static let readOnlyDirectory = Self("readOnlyDirectory")
    /// A program of the app is running.
    package static let running = Self("running")
    /// The file system keeps no attributes of files.
    package static let attributesNotSupported = Self("attributesNotSupported")

    // What lies there
    package static let symbolicLink = Self("symbolicLink")
    package static let notADirectory = Self("notADirectory")
    package static let notAFile = Self("notAFile")
    package static let foreignOwner = Self("foreignOwner")
    package static let permissionsTooOpen = Self("permissionsTooOpen")
    /// More levels of directories than are gone into.
    package static let tooDeep = Self("tooDeep")
    package static let tooLarge = Self("tooLarge")

    // Archives
    /// It holds what a backup never does: another place, a link that leaves it, a device.
    package static let archiveRefused = Self("archiveRefused")
    /// It is the backup of another app, or says of none.
    package static let archiveOfAnotherApp = Self("archiveOfAnotherApp")
    /// The system has no tar.
    package static let toolMissing = Self("toolMissing")
    package static let toolFailed = Self("toolFailed")

    // What the system could not do
    package static let accessDenied = Self("accessDenied")
    package static let readOnly = Self("readOnly")
    package static let full = Self("full")
    package static let busy = Self("busy")
    package static let descriptorsExhausted = Self("descriptorsExhausted")
    package static let io = Self("io")
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

  package static func == (left: ContainerError, right: ContainerError) -> Bool { left.code == right.code }
}

extension ContainerError.Code {
  package static func ~= (code: Self, error: any Error) -> Bool { (error as? ContainerError)?.code == code }
}
