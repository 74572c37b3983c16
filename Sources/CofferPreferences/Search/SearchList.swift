internal import CofferPropertyLists
internal import Synchronization

/// The places in which a setting is searched, in order: the first that has a value determines it.
///
/// Thread-safe. A thread reads its own changes, and those that it has synchronised with, from then on. Reading a key again takes
/// no lock and makes no system call as long as nothing has changed; the first read after a change searches.
public final class SearchList: Sendable {
  private static let identities = Atomic<UInt64>(0)

  /// Unique in this process.
  let identity: UInt64
  let core: SearchCore

  /// A list of entries, in search order.
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

  /// The entries in search order.
  public var entries: [SearchEntry] { structure.entries }

  /// Adds or removes entries. Observers are notified of the values that differ afterwards.
  public func edit(_ body: (inout [SearchEntry]) -> Void) { core.edit(body) }
}

/// The part of a list that its observations of domains retain. They would have to reference the list itself weakly, which slows
/// down each read: an object with weak references keeps its strong count in a side table.
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

  /// The keys of the domains that only one of the two has, in byte order.
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
