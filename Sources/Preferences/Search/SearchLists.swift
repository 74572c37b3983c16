internal import Synchronization

/// The search lists of one process, one for each name: whoever asks for a name gets the same list, with the same suites.
///
/// Thread-safe.
public final class SearchLists: Sendable {
  public let places: SearchPlaces
  public let volatileDomains: VolatileDomains
  private let source: any DomainSource
  private let lists = Mutex<[DomainName: ApplicationList]>([:])

  public init(places: SearchPlaces, volatileDomains: VolatileDomains, source: any DomainSource) {
    self.places = places
    self.volatileDomains = volatileDomains
    self.source = source
  }

  /// The list of an application or a suite. Where one of its files cannot be used, the program runs without
  /// what is in it.
  public func list(_ name: DomainName) -> ApplicationList {
    if let list = lists.withLock({ $0[name] }) { return list }
    // Not under the lock: opening files may come to what a program has to say about damaged ones.
    let new = ApplicationList(name, places: places, volatileDomains: volatileDomains, source: source)
    return lists.withLock { lists in
      let list = lists[name] ?? new
      lists[name] = list
      return list
    }
  }

  /// The user's own values of a domain, on any machine. Asking makes no files.
  public func domain(_ name: DomainName) -> any WritableDomain {
    if let list = lists.withLock({ $0[name] }) { return list.own }
    var options = FileDomain.Options()
    options.isCreating = false
    return source.domain(name, in: PreferenceDirectory(places.user), options)
  }

  /// Whether the administrator has set a value for the users of another application.
  public func isForced(_ key: String, in name: DomainName) -> Bool {
    if let list = lists.withLock({ $0[name] }) { return list.list.isForced(key) }
    return EntryBuilder(places: places, source: source).managed(name).contains { $0.domain.value(forKey: key) != nil }
  }
}
