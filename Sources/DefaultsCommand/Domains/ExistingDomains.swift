internal import CofferPreferences

/// The domains of the system as they are: to look at one makes no files.
struct ExistingDomains: DomainSource {
  private let files = FileDomainSource()

  func domain(
    _ name: DomainName, in directory: PreferenceDirectory, _ options: FileDomain.Options
  ) -> any WritableDomain {
    var options = options
    options.isCreating = false
    return files.domain(name, in: directory, options)
  }

  func propertyList(at path: String) -> any PreferenceDomain { files.propertyList(at: path) }
  func managedPropertyList(at path: String, _ trust: ManagedTrust) -> any PreferenceDomain {
    files.managedPropertyList(at: path, trust)
  }

  func exists(_ path: String) -> Bool { files.exists(path) }
}
