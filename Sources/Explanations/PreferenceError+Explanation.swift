package import CofferConsole
package import CofferPreferences
package import CofferPropertyLists

/// `defaults` ends with 1, as that of macOS does, for all of them; the status is that of other commands.
extension PreferenceError: Explained {
  package var explanation: Explanation {
    switch code {
    case .unsafeName:
      .init(
        .usage, "cannot be the name of a domain", "a domain is named like com.example.app; a file by its path from / on")
    case .keyTooLong: .init(.usage, "the key is too long: 4096 bytes are allowed")
    case .valueTooLarge:
      .init(
        .usage, "the value is too large: 1 MiB is allowed", "keep it in a file, and the path of the file here")
    case .domainTooLarge:
      .init(
        .usage, "the domain would be too large: 4 MiB are allowed", "keep data in files or in a database, settings here")
    case .valueTooDeep: .init(.usage, "the value has too many levels")
    case .notAPropertyList: .init(.usage, "is not a value of a property list")
    case .looksLikeSecret: .init(.usage, "looks like a secret", "coffer secret set keeps it")
    case .damaged:
      .init(
        .integrity, "is damaged", "it stays as it is until you repair it or put it away; defaults doctor looks at all domains")
    case .newerFormat:
      .init(
        .other, "has a format this version does not know", "a newer version of coffer has written it; update coffer")
    case .notWritable: .init(.denied, "can only be read")
    case .symbolicLink: .init(.inputOutput, "is a symbolic link", "name the file itself by its path")
    case .notAFile: .init(.inputOutput, "is not a file")
    case .foreignOwner: .init(.inputOutput, "belongs to another user", "run it as the user whose settings they are")
    case .permissionsTooOpen: .init(.inputOutput, "others may write to the directory", "chmod 700 the directory")
    case .accessDenied: .init(.inputOutput, "you may not read or write it")
    case .readOnly: .init(.inputOutput, "is read-only")
    case .full: .init(.inputOutput, "no room on the disk", "make room and try again")
    case .busy: .init(.inputOutput, "another process is writing", "try again")
    case .descriptorsExhausted: .init(.inputOutput, "too many open files", "raise the limit: ulimit -n")
    case .io: .init(.inputOutput, "reading or writing failed")
    case .noPlace: .init(.usage, "the place for preferences is not known", "set HOME, or COFFER_HOME, to an absolute path")
    }
  }
}

extension PropertyListError: Explained {
  package var explanation: Explanation { Explanation(.other, code.name) }
}
