package import CofferConsole
internal import CofferPreferences
internal import CofferPropertyLists

extension FailureTable {
  /// Errors of the module Preferences. `defaults` ends with macOS' 1 for all of them; the status is that of other commands.
  package static let preferences: [String: Explanation] = [
    "unsafeName": .init(
      .usage, "cannot be the name of a domain", "a domain is named like com.example.app; a file by its path from / on"),
    "keyTooLong": .init(.usage, "the key is too long: 4096 bytes are allowed", nil),
    "valueTooLarge": .init(
      .usage, "the value is too large: 1 MiB is allowed", "keep it in a file, and the path of the file here"),
    "domainTooLarge": .init(
      .usage, "the domain would be too large: 4 MiB are allowed", "keep data in files or in a database, settings here"),
    "valueTooDeep": .init(.usage, "the value has too many levels", nil),
    "notAPropertyList": .init(.usage, "is no value of a property list", nil),
    "looksLikeSecret": .init(.usage, "looks like a secret", "coffer secret set keeps it"),
    "damaged": .init(
      .integrity, "is damaged", "it stays as it is until you repair it or put it away; defaults doctor looks at all domains"),
    "newerFormat": .init(
      .other, "has a format this version does not know", "a newer version of coffer has written it; update coffer"),
    "notWritable": .init(.denied, "can only be read", nil),
    "symbolicLink": .init(.inputOutput, "is a symbolic link", "name the file itself by its path"),
    "notAFile": .init(.inputOutput, "is no file", nil),
    "foreignOwner": .init(.inputOutput, "belongs to somebody else", "run it as the user whose settings they are"),
    "permissionsTooOpen": .init(.inputOutput, "others may write to the directory", "chmod 700 the directory"),
    "accessDenied": .init(.inputOutput, "you may not read or write it", nil),
    "readOnly": .init(.inputOutput, "is read-only", nil),
    "full": .init(.inputOutput, "no room on the disk", "make room and try again"),
    "busy": .init(.inputOutput, "another process is writing", "try again"),
    "descriptorsExhausted": .init(.inputOutput, "too many open files", "raise the limit: ulimit -n"),
    "io": .init(.inputOutput, "reading or writing failed", nil),
    "noPlace": .init(.usage, "there is no place for preferences", "set HOME, or COFFER_HOME, to an absolute path"),
  ]
}

extension PreferenceError: Explained {
  package var explanation: Explanation { FailureTable.preferences[code.name] ?? Explanation(.other, code.name) }
}

extension PropertyListError: Explained {
  package var explanation: Explanation { Explanation(.other, code.name) }
}
