internal import Synchronization

/// Keeps a search list in use. The list itself has no weak references, because they would slow down each read.
public final class SearchListUse: Sendable {
  /// The search list that this object keeps in use.
  public let application: ApplicationList
  private let made = Mutex<(any AnyObject & Sendable)?>(nil)

  /// An object that an upper layer attaches to the list, shared by all users of the list and created at the first call.
  package func companion<Companion: AnyObject & Sendable>(_ make: () -> Companion) -> Companion {
    made.withLock { made in
      if let made = made as? Companion { return made }
      let new = make()
      made = new
      return new
    }
  }

  init(_ application: ApplicationList) { self.application = application }
}

/// The search lists of one process, one per name: all requests for a name get the same list, with the same suites, as long as it
/// is in use.
///
/// Lists keep files open, so unused ones are released, except the last few: programs often ask for a suite repeatedly.
///
/// Thread-safe.
public final class SearchLists: Sendable {
  private struct Reference: Sendable {
    weak var use: SearchListUse?
  }

  private struct State {
    var references: [DomainName: Reference] = [:]
    /// The last one used is at the end.
    var recent: [SearchListUse] = []

    mutating func use(_ name: DomainName) -> SearchListUse? {
      guard let use = references[name]?.use else { return nil }
      keep(use)
      return use
    }

    mutating func keep(_ use: SearchListUse) {
      recent.removeAll { $0 === use }
      recent.append(use)
      if recent.count > SearchLists.recentCount { recent.removeFirst() }
    }
  }

  static let recentCount = 16

  /// The directories of the domains.
  public let places: SearchPlaces
  /// The domains in memory.
  public let volatileDomains: VolatileDomains
  private let source: any DomainSource
  private let state = Mutex(State())

  /// The search lists over these directories and domains in memory.
  public init(places: SearchPlaces, volatileDomains: VolatileDomains, source: any DomainSource) {
    self.places = places
    self.volatileDomains = volatileDomains
    self.source = source
  }

  /// The list of an application or a suite. A file that cannot be used is treated as empty.
  public func list(_ name: DomainName) -> SearchListUse {
    let name = places.fullName(of: name)
    if let use = state.withLock({ $0.use(name) }) { return use }
    // Outside of the lock: opening files may call the program's log handler about damaged ones.
    let new = SearchListUse(ApplicationList(name, places: places, volatileDomains: volatileDomains, source: source))
    // Released lists close their files outside of the lock.
    let (use, gone) = state.withLock { state in
      let before = state.recent
      let use = state.use(name) ?? new
      state.references = state.references.filter { $0.value.use != nil }
      state.references[name] = Reference(use: use)
      state.keep(use)
      return (use, before)
    }
    withExtendedLifetime(gone) {}
    return use
  }

  /// The user's own values of a domain, for any machine. Creates no files.
  public func domain(_ name: DomainName) -> any WritableDomain {
    let name = places.fullName(of: name)
    if let use = state.withLock({ $0.references[name]?.use }) { return use.application.own }
    var options = places.options(of: name)
    options.isCreating = false
    return source.domain(name, in: PreferenceDirectory(places.directory(of: name)), options)
  }

  /// Whether the administrator has set a value in the domain of another application.
  public func isForced(_ key: String, in name: DomainName) -> Bool {
    let name = places.fullName(of: name)
    if let use = state.withLock({ $0.references[name]?.use }) { return use.application.list.isForced(key) }
    return EntryBuilder(places: places, source: source).managed(name).contains { $0.domain.value(forKey: key) != nil }
  }
}
