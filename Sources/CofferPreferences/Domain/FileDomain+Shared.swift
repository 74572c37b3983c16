internal import Synchronization

extension FileDomain {
  private struct Entry: Sendable {
    weak var domain: FileDomain?
  }

  private struct Location: Hashable {
    let path: String
    let name: DomainName
  }

  private static let shared = Mutex<[Location: Entry]>([:])

  /// The one object of this process for a domain. Never fails; see `problem`.
  public static func shared(
    _ name: DomainName, in directory: PreferenceDirectory, _ options: Options = Options()
  ) -> FileDomain {
    shared.withLock { shared in
      let location = Location(path: directory.path, name: name)
      if let known = shared[location]?.domain { return known }
      let domain = FileDomain(name, in: directory, options)
      shared = shared.filter { $0.value.domain != nil }
      shared[location] = Entry(domain: domain)
      return domain
    }
  }
}
