public import CofferPropertyLists

/// One place of a search list.
public struct SearchEntry: Sendable {
  /// The kinds of entries, in search order. "By host" means for this machine only.
  public enum Kind: Sendable, Hashable, CaseIterable {
    /// Forced by the administrator on this user, or on all.
    case managed
    case argument
    case applicationByHost
    /// The entry that `set` writes.
    case application
    case suiteByHost
    case suite
    case globalByHost
    case global
    case language
    case anyUserApplication
    case anyUserSuite
    case anyUserGlobal
    case registration
  }

  public let kind: Kind
  /// The name of the domain: `com.example.app`, `NSGlobalDomain`, `NSArgumentDomain`, `ja`.
  public let name: String
  /// The path of the file. nil if the domain is in memory.
  public let path: String?
  public let domain: any PreferenceDomain

  public init(_ kind: Kind, name: String, path: String? = nil, domain: any PreferenceDomain) {
    self.kind = kind
    self.name = name
    self.path = path
    self.domain = domain
  }
}

/// The result of one entry for a key.
public struct SearchFinding: Sendable {
  public let kind: SearchEntry.Kind
  public let name: String
  public let path: String?
  /// nil if the domain has no value for the key.
  public let value: PropertyListValue?
}
