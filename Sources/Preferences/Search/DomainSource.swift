/// Where a search list gets its domains. Thread-safe.
public protocol DomainSource: Sendable {
  /// The same object for the same name and directory.
  func domain(_ name: DomainName, in directory: String) throws(PreferenceError) -> any WritableDomain
  /// A property list that is only read. It need not be there.
  func propertyList(at path: String) -> any PreferenceDomain
  func exists(_ path: String) -> Bool
}
