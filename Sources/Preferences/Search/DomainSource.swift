internal import Glibc

/// Where a search list gets its domains. Thread-safe.
public protocol DomainSource: Sendable {
  /// The same object for the same name and directory, as long as somebody has it.
  func domain(_ name: DomainName, in directory: PreferenceDirectory, _ options: FileDomain.Options) -> any WritableDomain
  /// A property list that is only read. It need not be there.
  func propertyList(at path: String) -> any PreferenceDomain
  /// One that counts only while nobody but the administrator can write it.
  func managedPropertyList(at path: String, _ trust: ManagedTrust) -> any PreferenceDomain
  func exists(_ path: String) -> Bool
}

extension FileDomain: WritableDomain {}

/// The files of the system.
public struct FileDomainSource: DomainSource {
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

  public func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
}

/// Where no place for files is known.
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
