internal import AppContainers
internal import CofferFiles

/// The meaning of each error of a lower module for the caller of the program, by the name of the code.
///
/// A test holds this table against the codes that exist; one that is missing ends with status 1.
package enum FailureTable {
  /// Errors of directories and of the files in them.
  package static let containers: [String: Explanation] = [
    "nameNotAllowed": .init(.usage, "is no name of a file here", "names lead down, and have no ., .. or empty part"),
    "missing": .init(.notFound, "is not there"),
    "exists": .init(.duplicate, "is there already"),
    "readOnlyDirectory": .init(.denied, "an app may not make files there", "Documents, Library and tmp are the app's own"),
    "running": .init(.inputOutput, "a program of the app is running", "end it, and try again"),
    "attributesNotSupported": .init(
      .inputOutput, "the file system keeps no attributes", "what is not to be in a backup belongs into Library/Caches or tmp"),
    "symbolicLink": .init(.inputOutput, "is a symbolic link", "put the file or directory itself there"),
    "notADirectory": .init(.inputOutput, "is no directory"),
    "notAFile": .init(.inputOutput, "is no file"),
    "foreignOwner": .init(.inputOutput, "belongs to somebody else", "run it as the user whose apps they are"),
    "permissionsTooOpen": .init(.inputOutput, "everybody may write to the directory", "chmod 700 the directory"),
    "tooDeep": .init(.inputOutput, "has more levels of directories than are gone into"),
    "tooLarge": .init(.usage, "is too large"),
    "archiveRefused": .init(.integrity, "is no archive that coffer app backup has made", "nothing has been changed"),
    "archiveOfAnotherApp": .init(
      .denied, "is not a backup of this app", "nothing has been changed; if it is the backup of another app: --from-other-app"),
    "toolMissing": .init(.other, "the program tar is missing", "install it: apt install tar"),
    "toolFailed": .init(.inputOutput, "tar could not write the archive"),
    "accessDenied": .init(.inputOutput, "you may not read or write it"),
    "readOnly": .init(.inputOutput, "is read-only"),
    "full": .init(.inputOutput, "no room on the disk", "nothing has been changed; make room and try again"),
    "busy": .init(.inputOutput, "another process is at work", "try again"),
    "descriptorsExhausted": .init(.inputOutput, "too many open files", "raise the limit: ulimit -n"),
    "io": .init(.inputOutput, "reading or writing failed"),
  ]
}

extension ContainerError: Explained {
  package var explanation: Explanation { FailureTable.containers[code.name] ?? Explanation(.other, code.name) }
}

extension UserDirectories.Failure: Explained {
  package var explanation: Explanation {
    switch self {
    case .relativePath: Explanation(.usage, "COFFER_HOME must be an absolute path")
    case .noHome:
      Explanation(.usage, "there is no home directory", "set HOME or COFFER_HOME, or name a file with --vault")
    }
  }

  package var detail: String {
    switch self {
    case .relativePath(let path): "COFFER_HOME=\(path)"
    case .noHome(let home): home ?? ""
    }
  }
}
