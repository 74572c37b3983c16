internal import AppContainers
internal import CofferFiles

extension FileError: Explained {
  package var explanation: Explanation {
    switch code {
    case .nameNotAllowed: .init(.usage, "is not a name of a file here", "names lead down, and have no ., .. or empty part")
    case .missing: .init(.notFound, "is not there")
    case .exists: .init(.duplicate, "is there already")
    case .readOnlyDirectory: .init(.denied, "an app may not make files there", "Documents, Library and tmp are the app's own")
    case .running: .init(.inputOutput, "a program of the app is running", "end it, and try again")
    case .attributesNotSupported:
      .init(
        .inputOutput, "the file system keeps no attributes", "files that no backup needs belong into Library/Caches or tmp")
    case .symbolicLink: .init(.inputOutput, "is a symbolic link", "put the file or directory itself there")
    case .notADirectory: .init(.inputOutput, "is not a directory")
    case .notAFile: .init(.inputOutput, "is not a file")
    case .foreignOwner: .init(.inputOutput, "belongs to another user", "run it as the user whose apps they are")
    case .permissionsTooOpen: .init(.inputOutput, "everybody may write to the directory", "chmod 700 the directory")
    case .tooDeep: .init(.inputOutput, "has more levels of directories than are gone into")
    case .tooLarge: .init(.usage, "is too large")
    case .archiveRefused: .init(.integrity, "is not an archive that coffer app backup has made", "nothing has been changed")
    case .archiveOfAnotherApp:
      .init(
        .denied, "is not a backup of this app", "nothing has been changed; if it is the backup of another app: --from-other-app")
    case .toolMissing: .init(.other, "the program tar is missing", "install it: apt install tar")
    case .toolFailed: .init(.inputOutput, "tar could not write the archive")
    case .accessDenied: .init(.inputOutput, "you may not read or write it")
    case .readOnly: .init(.inputOutput, "is read-only")
    case .full: .init(.inputOutput, "no room on the disk", "make room and try again")
    case .busy: .init(.inputOutput, "another process is at work", "try again")
    case .descriptorsExhausted: .init(.inputOutput, "too many open files", "raise the limit: ulimit -n")
    case .outOfMemory: .init(.other, "out of memory")
    case .io: .init(.inputOutput, "reading or writing failed")
    }
  }
}

extension UserDirectories.Failure: Explained {
  package var explanation: Explanation {
    switch self {
    case .relativePath: Explanation(.usage, "COFFER_HOME must be an absolute path")
    case .noHome:
      Explanation(.usage, "the home directory is not known", "set HOME or COFFER_HOME, or name a file with --vault")
    }
  }

  package var detail: String {
    switch self {
    case .relativePath(let path): "COFFER_HOME=\(path)"
    case .noHome(let home): home ?? ""
    }
  }
}
