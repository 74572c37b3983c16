public import CofferPropertyLists

/// One place of a search list.
public struct SearchEntry: Sendable {
  /// The kinds of entries, in search order. "By host" means for this machine only.
  public enum Kind: Sendable, Hashable, CaseIterable {
    /// Forced by the administrator on this user, or on all.
    case managed
    /// The arguments of the program.
    case argument
    /// The domain of the program, for this machine.
    case applicationByHost
    /// The entry that `set` writes.
    case application
    /// A suite, for this machine.
    case suiteByHost
    /// A suite.
    case suite
    /// The global domain, for this machine.
    case globalByHost
    /// The global domain.
    case global
    /// A domain of a language of the user.
    case language
    /// The domain of the program, for all users.
    case anyUserApplication
    /// A suite, for all users.
    case anyUserSuite
    /// The global domain, for all users.
    case anyUserGlobal
    /// The defaults that the program has registered.
    case registration
  }

  /// The kind of the entry.
  public let kind: Kind
  /// The name of the domain: `com.example.app`, `NSGlobalDomain`, `NSArgumentDomain`, `ja`.
  public let name: String
  /// The path of the file. nil if the domain is in memory.
  public let path: String?
  /// The values of the entry.
  public let domain: any PreferenceDomain

  /// An entry of a search list.
  public init(_ kind: Kind, name: String, path: String? = nil, domain: any PreferenceDomain) {
    self.kind = kind
    self.name = name
    self.path = path
    self.domain = domain
  }
}

/// The result of one entry for a key.
public struct SearchFinding: Sendable {
  /// The kind of the entry.
  public let kind: SearchEntry.Kind
  /// The name of its domain.
  public let name: String
  /// The path of its file; nil if the domain is in memory.
  public let path: String?
  /// nil if the domain has no value for the key.
  public let value: PropertyListValue?
}
