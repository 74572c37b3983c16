package import CofferPropertyLists

/// The parsed command line of `defaults`.
package struct DefaultsInvocation: Equatable, Sendable {
  /// Whose values: those for every host, unless one is named before the verb.
  package enum Host: Equatable, Sendable {
    case any
    case current
    case named(String)
  }

  package enum Domain: Equatable, Sendable {
    case named(String)
    case global
    /// The domain of the application with this name.
    case application(String)
    /// A property list by its absolute path, with or without its `.plist`.
    case path(String)
  }

  /// The effect of `write` on one key.
  package enum Edit: Equatable, Sendable {
    case set(PropertyListValue)
    /// The value on standard input, of this type, such as `-int`; nil if no type was given.
    case setInput(type: String?)
    /// Behind the elements that are there.
    case append([PropertyListValue])
    /// Over the entries that are there.
    case merge(PropertyListDictionary)
  }

  package enum Request: Equatable, Sendable {
    case readAll
    case read(Domain, key: String?)
    case readType(Domain, key: String)
    case write(Domain, key: String, Edit)
    case replace(Domain, PropertyListDictionary)
    case rename(Domain, old: String, new: String)
    case delete(Domain, key: String?)
    case importFile(Domain, path: String)
    case exportFile(Domain, path: String)
    case domains
    case find(String)
    case explain(Domain, key: String)
    case watch(Domain?, key: String?)
    case diff(Domain, Domain)
    case doctor
    /// To the vault: all values that look like secrets, those of a domain, or one value. `options` are those of
    /// `DefaultsMoveOptions`.
    case moveSecrets(Domain?, key: String?, options: [String])
    case hostIdentifier
    case help
  }

  package var host: Host
  /// The app or group whose domains are meant, in its container; nil for those of the user.
  package var container: String?
  package var request: Request
  /// `--json`.
  package var isJSON: Bool
  /// `--not-a-secret`.
  package var isNoSecret: Bool

  package init(
    host: Host = .any, container: String? = nil, _ request: Request, isJSON: Bool = false, isNoSecret: Bool = false
  ) {
    self.host = host
    self.container = container
    self.request = request
    self.isJSON = isJSON
    self.isNoSecret = isNoSecret
  }
}
