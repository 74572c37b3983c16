internal import Glibc

/// The caches of one thread: a table of references, found through its thread-specific data and released when it ends.
enum ThreadSearchCaches {
  private typealias Table = UnsafeMutablePointer<Unmanaged<SearchCache>?>

  /// Lists beyond this number take each other's place, by their identity.
  private static let count = 8

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let result = unsafe pthread_key_create(&key) { pointer in
      guard let pointer = unsafe pointer else { return }
      let table = unsafe pointer.assumingMemoryBound(to: Unmanaged<SearchCache>?.self)
      for place in 0..<ThreadSearchCaches.count { unsafe table[place]?.release() }
      unsafe table.deallocate()
    }
    precondition(result == 0, "a process has at most \(PTHREAD_KEYS_MAX) thread-specific keys")
    return key
  }()

  /// The cache of this thread for the list, made anew where the structure of the list has changed.
  @inline(__always)
  static func withCache<Result>(of list: SearchList, _ body: (SearchCache) -> Result) -> Result {
    let place = Int(truncatingIfNeeded: list.identity) & (count - 1)
    let version = list.version
    if let table = unsafe pthread_getspecific(key)?.assumingMemoryBound(to: Unmanaged<SearchCache>?.self),
      let cache = unsafe table[place],
      unsafe cache._withUnsafeGuaranteedRef({ $0.list == list.identity && $0.structure.version == version })
    {
      return unsafe cache._withUnsafeGuaranteedRef(body)
    }
    return body(replace(place, list))
  }

  @inline(never)
  private static func replace(_ place: Int, _ list: SearchList) -> SearchCache {
    let table: Table
    if let pointer = unsafe pthread_getspecific(key) {
      unsafe table = pointer.assumingMemoryBound(to: Unmanaged<SearchCache>?.self)
    } else {
      unsafe table = .allocate(capacity: count)
      unsafe table.initialize(repeating: nil, count: count)
      unsafe pthread_setspecific(key, table)
    }
    let cache = SearchCache(list: list.identity, structure: list.structure)
    let old = unsafe table[place]
    unsafe table[place] = .passRetained(cache)
    unsafe old?.release()
    return cache
  }

  /// The list has gone: its domains need not stay for this thread.
  static func forget(_ list: UInt64) {
    let place = Int(truncatingIfNeeded: list) & (count - 1)
    guard let table = unsafe pthread_getspecific(key)?.assumingMemoryBound(to: Unmanaged<SearchCache>?.self),
      let cache = unsafe table[place], unsafe cache._withUnsafeGuaranteedRef({ $0.list == list })
    else { return }
    unsafe table[place] = nil
    unsafe cache.release()
  }
}
