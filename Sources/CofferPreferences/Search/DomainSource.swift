internal import Glibc

/// Creates the domains of a search list. Thread-safe.
public protocol DomainSource: Sendable {
  /// Returns the same object for the same name and directory as long as it is in use.
  func domain(_ name: DomainName, in directory: PreferenceDirectory, _ options: FileDomain.Options) -> any WritableDomain
  /// A property list that is only read. It need not exist.
  func propertyList(at path: String) -> any PreferenceDomain
  /// A property list that is used only while the administrator alone can write it.
  func managedPropertyList(at path: String, _ trust: ManagedTrust) -> any PreferenceDomain
  /// Whether the file of a domain exists.
  func exists(_ path: String) -> Bool
}

extension FileDomain: WritableDomain {}

/// The files of the file system.
public struct FileDomainSource: DomainSource {
  /// The domains in files.
  public init() {}

  public func domain(
    _ name: DomainName, in directory: PreferenceDirectory, _ options: FileDomain.Options
  ) -> any WritableDomain {
    FileDomain.shared(name, in: directory, options)
  }

  public func propertyList(at path: String) -> any PreferenceDomain { PlistFileDomain(path: path) }

  public func managedPropertyList(at path: String, _ trust: ManagedTrust) -> any PreferenceDomain {
    PlistFileDomain(path: path, trust)
  }

  /// Whether the file exists.
  public func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
}

/// Used if there is no directory for files.
package struct UnavailableDomainSource: DomainSource {
  private let reason: PreferenceError

  package init(_ reason: PreferenceError) { self.reason = reason }

  package func domain(
    _ name: DomainName, in directory: PreferenceDirectory, _ options: FileDomain.Options
  ) -> any WritableDomain {
    UnavailableDomain(reason)
  }

  package func propertyList(at path: String) -> any PreferenceDomain { VolatileDomain() }
  package func managedPropertyList(at path: String, _ trust: ManagedTrust) -> any PreferenceDomain { VolatileDomain() }
  package func exists(_ path: String) -> Bool { false }
}
