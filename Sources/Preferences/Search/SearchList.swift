internal import PropertyLists
internal import Synchronization

/// The places where a setting is looked for, in their order: the first that holds a value counts.
///
/// Thread-safe. What a thread has changed, or knows to be changed, it reads from then on. A read of a key that this thread has read
/// before takes no lock and makes no system call as long as nothing has changed; the first read after a change searches.
public final class SearchList: Sendable {
  private static let identities = Atomic<UInt64>(0)

  /// Never that of another list of this process.
  let identity: UInt64
  let core: SearchCore

  public init(_ entries: [SearchEntry]) {
    identity = Self.identities.wrappingAdd(1, ordering: .relaxed).newValue
    core = SearchCore(entries)
  }

  deinit {
    ThreadSearchCaches.forget(identity)
    core.observations.end()
  }

  @inline(__always)
  var version: UInt64 { core.version }
  var structure: SearchStructure { core.structure }

  /// In the order of the search.
  public var entries: [SearchEntry] { structure.entries }

  /// Puts entries in or takes them out. Observers hear of the values that are others now.
  public func edit(_ body: (inout [SearchEntry]) -> Void) { core.edit(body) }
}

/// What the observations that a list has of its domains hold on to. The list itself they would have to hold weakly, and every read would
/// pay for that: an object with weak references counts its strong ones in another place.
final class SearchCore: Sendable {
  private let currentVersion = Atomic<UInt64>(0)
  private let current: Mutex<SearchStructure>
  let observations = SearchObservations()

  init(_ entries: [SearchEntry]) { current = Mutex(SearchStructure(version: 0, entries: entries)) }

  @inline(__always)
  var version: UInt64 { currentVersion.load(ordering: .acquiring) }
  var structure: SearchStructure { current.withLock { $0 } }

  func edit(_ body: (inout [SearchEntry]) -> Void) {
    let (old, new) = current.withLock { structure in
      let old = structure
      var entries = old.entries
      body(&entries)
      structure = SearchStructure(version: old.version + 1, entries: entries)
      currentVersion.store(structure.version, ordering: .releasing)
      return (old, structure)
    }
    observations.follow(self)
    observations.edited(new, Self.keys(of: old, and: new))
  }

  /// Of the domains that only one of the two has, in byte order.
  private static func keys(of old: SearchStructure, and new: SearchStructure) -> [String] {
    func domains(_ structure: SearchStructure) -> [ObjectIdentifier: any PreferenceDomain] {
      Dictionary(structure.entries.map { (ObjectIdentifier($0.domain), $0.domain) }) { first, _ in first }
    }
    let (before, after) = (domains(old), domains(new))
    var values = PropertyListDictionary()
    for (id, domain) in before where after[id] == nil { values.merge(domain.values()) }
    for (id, domain) in after where before[id] == nil { values.merge(domain.values()) }
    return values.sorted.map(\.key)
  }
}
