internal import Synchronization

/// Keeps a search list in use. The list itself has no weak references, which would make each read of it slower.
public final class SearchListUse: Sendable {
  public let application: ApplicationList
  private let made = Mutex<(any AnyObject & Sendable)?>(nil)

  /// What a layer above has beside the list, for all who use it: made at the first call.
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

/// The search lists of one process, one for each name: whoever asks for a name gets the same list, with the same suites, as long as
/// somebody has it in use.
///
/// Each list keeps files open, so those that nobody uses go, but for the last few: programs ask for a suite again and again.
/// Thread-safe.
public final class SearchLists: Sendable {
  private struct Reference: Sendable {
    weak var use: SearchListUse?
  }

  private struct State {
    var references: [DomainName: Reference] = [:]
    /// The last one used at the end.
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

  public let places: SearchPlaces
  public let volatileDomains: VolatileDomains
  private let source: any DomainSource
  private let state = Mutex(State())

  public init(places: SearchPlaces, volatileDomains: VolatileDomains, source: any DomainSource) {
    self.places = places
    self.volatileDomains = volatileDomains
    self.source = source
  }

  /// The list of an application or a suite. Where one of its files cannot be used, the program runs without
  /// what is in it.
  public func list(_ name: DomainName) -> SearchListUse {
    let name = places.fullName(of: name)
    if let use = state.withLock({ $0.use(name) }) { return use }
    // Not under the lock: opening files may come to what a program has to say about damaged ones.
    let new = SearchListUse(ApplicationList(name, places: places, volatileDomains: volatileDomains, source: source))
    // What goes with the last one closes its files outside of the lock.
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

  /// The user's own values of a domain, on any machine. Asking makes no files.
  public func domain(_ name: DomainName) -> any WritableDomain {
    let name = places.fullName(of: name)
    if let use = state.withLock({ $0.references[name]?.use }) { return use.application.own }
    var options = places.options(of: name)
    options.isCreating = false
    return source.domain(name, in: PreferenceDirectory(places.directory(of: name)), options)
  }

  /// Whether the administrator has set a value for the users of another application.
  public func isForced(_ key: String, in name: DomainName) -> Bool {
    let name = places.fullName(of: name)
    if let use = state.withLock({ $0.references[name]?.use }) { return use.application.list.isForced(key) }
    return EntryBuilder(places: places, source: source).managed(name).contains { $0.domain.value(forKey: key) != nil }
  }
}
