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
    lists.withLock { lists in
      if let list = lists[name] { return list }
      let list = ApplicationList(name, places: places, volatileDomains: volatileDomains, source: source)
      lists[name] = list
      return list
    }
  }

  /// The user's own values of a domain, on any machine, as they are written.
  public func domain(_ name: DomainName) -> any WritableDomain {
    source.domain(name, in: PreferenceDirectory(places.user), FileDomain.Options())
  }
}
