internal import Glibc

/// The caches of one thread: a table of references in its thread-specific data, released when the thread ends.
enum ThreadSearchCaches {
  private typealias Table = UnsafeMutablePointer<Unmanaged<SearchCache>?>

  /// The number of caches. The list's identity selects the place; lists with the same place replace each other.
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

  /// Reads from the cache of this thread for the list, which is created anew if the structure of the list has changed.
  /// - Parameter body: As for `SearchCache.read`.
  @inline(__always)
  static func read<Result>(
    _ name: String, in list: SearchList, _ body: (UnsafeMutablePointer<SearchCache.Slot>) -> Result
  ) -> Result {
    let place = Int(truncatingIfNeeded: list.identity) & (count - 1)
    let version = list.version
    if let table = unsafe pthread_getspecific(key)?.assumingMemoryBound(to: Unmanaged<SearchCache>?.self),
      let cache = unsafe table[place],
      unsafe cache._withUnsafeGuaranteedRef({ $0.list == list.identity && $0.structure.version == version })
    {
      return unsafe cache._withUnsafeGuaranteedRef { unsafe $0.read(name, body) }
    }
    return unsafe replace(place, list).read(name, body)
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

  /// Releases the cache of a deallocated list, so that this thread no longer retains its domains.
  static func forget(_ list: UInt64) {
    let place = Int(truncatingIfNeeded: list) & (count - 1)
    guard let table = unsafe pthread_getspecific(key)?.assumingMemoryBound(to: Unmanaged<SearchCache>?.self),
      let cache = unsafe table[place], unsafe cache._withUnsafeGuaranteedRef({ $0.list == list })
    else { return }
    unsafe table[place] = nil
    unsafe cache.release()
  }
}
