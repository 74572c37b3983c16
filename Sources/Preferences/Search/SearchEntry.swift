public import PropertyLists

/// One place of a search list.
public struct SearchEntry: Sendable {
  /// What kind of place it is, in the order of the search. "By host" is for this machine alone.
  public enum Kind: Sendable, Hashable, CaseIterable {
    /// Forced by the administrator on this user, or on all.
    case managed
    case argument
    case applicationByHost
    /// The one that is written.
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
  /// Of the domain: `com.example.app`, `NSGlobalDomain`, `NSArgumentDomain`, `ja`.
  public let name: String
  /// Of the file. Nil for what lives in memory.
  public let path: String?
  public let domain: any PreferenceDomain

  public init(_ kind: Kind, name: String, path: String? = nil, domain: any PreferenceDomain) {
    self.kind = kind
    self.name = name
    self.path = path
    self.domain = domain
  }
}

/// What one place says about a key.
public struct SearchFinding: Sendable {
  public let kind: SearchEntry.Kind
  public let name: String
  public let path: String?
  /// Nil where the domain holds no value of the key.
  public let value: PropertyListValue?
}
