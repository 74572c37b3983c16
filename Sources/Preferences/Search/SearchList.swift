internal import Synchronization

/// The places where a setting is looked for, in their order: the first that holds a value counts.
///
/// Thread-safe. What a thread has changed, or knows to be changed, it reads from then on. A read of a key that this thread has read
/// before takes no lock and makes no system call as long as nothing has changed; the first read after a change searches.
public final class SearchList: Sendable {
  private static let identities = Atomic<UInt64>(0)

  /// Never that of another list of this process.
  let identity: UInt64
  /// That of the present structure.
  private let currentVersion: Atomic<UInt64>
  private let current: Mutex<SearchStructure>
  let observations = SearchObservations()

  public init(_ entries: [SearchEntry]) {
    identity = Self.identities.wrappingAdd(1, ordering: .relaxed).newValue
    currentVersion = Atomic(0)
    current = Mutex(SearchStructure(version: 0, entries: entries))
  }

  deinit { ThreadSearchCaches.forget(identity) }

  @inline(__always)
  var version: UInt64 { currentVersion.load(ordering: .acquiring) }
  var structure: SearchStructure { current.withLock { $0 } }

  /// In the order of the search.
  public var entries: [SearchEntry] { structure.entries }

  /// Puts entries in or takes them out. Observers hear of the values that are others now.
  public func edit(_ body: (inout [SearchEntry]) -> Void) {
    let (old, new) = current.withLock { structure in
      let old = structure
      var entries = old.entries
      body(&entries)
      structure = SearchStructure(version: old.version + 1, entries: entries)
      currentVersion.store(structure.version, ordering: .releasing)
      return (old, structure)
    }
    structureChanged(from: old, to: new)
  }
}
