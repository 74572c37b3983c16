/// The verbs, in the order of the help.
package enum DefaultsVerb: String, CaseIterable, Sendable {
  case read
  case readType = "read-type"
  case write
  case rename
  case delete
  case `import`
  case export
  case domains
  case find
  case explain
  case watch
  case diff
  case doctor
  case help
  case printHostIdentifier = "printhostidentifier"

  /// Upper and lower case are the same. `remove` is `delete`.
  init?(argument: String) {
    let name = argument.lowercased()
    self.init(rawValue: name == "remove" ? "delete" : name)
  }

  /// Its arguments, in order; those with a question mark are optional.
  package var arguments: [String] {
    switch self {
    case .read, .watch: ["domain?", "key?"]
    case .readType, .explain: ["domain", "key"]
    case .write: ["domain", "key?", "value"]
    case .rename: ["domain", "old-key", "new-key"]
    case .delete: ["domain", "key?"]
    case .import, .export: ["domain", "file"]
    case .find: ["word"]
    case .diff: ["domain", "other"]
    case .domains, .doctor, .help, .printHostIdentifier: []
    }
  }

  package var options: [String] {
    (takesJSON ? ["--json"] : []) + (takesNotASecret ? ["--not-a-secret"] : []) + (self == .write ? ["--stdin"] : [])
  }

  /// The arguments of `doctor --move`, besides the options that open a vault, see `VaultOptions`.
  package static let moveArguments = ["domain?", "key?"]
  package static let moveOptions = ["--group name", "--create-group"]

  var takesJSON: Bool {
    switch self {
    case .read, .readType, .domains, .find, .explain, .watch, .diff, .doctor: true
    case .write, .rename, .delete, .import, .export, .help, .printHostIdentifier: false
    }
  }

  /// Whether it works on domains of one place.
  var takesContainer: Bool {
    switch self {
    case .explain, .doctor, .help, .printHostIdentifier: false
    default: true
    }
  }

  var takesNotASecret: Bool {
    switch self {
    case .write, .rename, .import: true
    default: false
    }
  }
}
