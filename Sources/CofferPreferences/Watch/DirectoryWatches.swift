internal import CofferFiles
internal import Glibc

/// Reports in which directories there were changes, by inotify(7).
///
/// For a directory that does not exist, its nearest existing ancestor is watched, which avoids polling. If a directory cannot be
/// watched, because the user's inotify watches are exhausted or the directory cannot be read, it is in `unwatched`, and the
/// caller has to poll.
struct DirectoryWatches {
  private let events = FileEvents()
  /// Readable after a change. Negative if inotify is not available.
  var descriptor: Int32 { events.descriptor }
  private var watches: [String: Int32] = [:]
  /// Directories watched for all changes, not only for new entries.
  private var followed: Set<String> = []
  /// Directories that do not exist, with the ancestor that is watched instead.
  private var missing: [String: String] = [:]
  /// Directories that cannot be watched.
  private(set) var unwatched: Set<String> = []

  private static let changes =
    UInt32(IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)
  private static let arrivals = UInt32(IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_MASK_ADD)

  /// Watches these directories and no others. Each is looked up by its path again: the kernel reports that a directory was deleted
  /// only when no process has a file open that was in it, and a process keeps the lock file of a domain open.
  /// - Returns: The directories newly watched, whose earlier changes were not reported.
  mutating func follow(_ wanted: Set<String>) -> Set<String> {
    missing = missing.filter { wanted.contains($0.key) }
    unwatched = unwatched.filter { wanted.contains($0) }
    var new: Set<String> = []
    for directory in wanted {
      guard missing[directory] == nil, watch(directory) else { continue }
      new.insert(directory)
    }
    let needed = wanted.union(missing.values)
    for directory in watches.keys where !needed.contains(directory) {
      if let watch = watches.removeValue(forKey: directory) { events.remove(watch) }
      followed.remove(directory)
    }
    return new
  }

  /// - Returns: Whether the directory itself is followed from now on.
  private mutating func watch(_ directory: String) -> Bool {
    let known = watches[directory]
    if add(directory, Self.changes) {
      unwatched.remove(directory)
      missing[directory] = nil
      let isOther = watches[directory] != known
      if isOther, let known { events.remove(known) }
      // A directory that was watched in place of a missing descendant was not followed, even if the kernel returns the same
      // watch.
      return followed.insert(directory).inserted || isOther
    }
    guard errno == ENOENT || errno == ENOTDIR else {
      unwatched.insert(directory)
      return false
    }
    var above = directory
    while let slash = above.utf8.lastIndex(of: UInt8(ascii: "/")), above.utf8.count > 1 {
      let below = above
      above = slash == above.startIndex ? "/" : String(above[..<slash])
      guard add(above, Self.arrivals) else { continue }
      missing[directory] = above
      unwatched.remove(directory)
      // The directory below may have been created between the two calls.
      return add(below, Self.arrivals) && watch(directory)
    }
    unwatched.insert(directory)
    return false
  }

  private mutating func add(_ directory: String, _ mask: UInt32) -> Bool {
    let watch = events.watch(directory, for: mask)
    guard watch >= 0 else { return false }
    watches[directory] = watch
    return true
  }

  /// The names of changed files by directory. An empty set means that the names are unknown.
  mutating func read() -> [String: Set<String>] {
    var names: [String: Set<String>] = [:]
    // Two paths may lead to the same directory.
    let byWatch = Dictionary(grouping: watches.keys) { watches[$0] ?? -1 }
    for event in events.take() {
      if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
        for directory in watches.keys { names[directory] = [] }
        missing = [:]
      }
      for directory in byWatch[event.watch] ?? [] {
        // A directory that was deleted or moved away is looked up again by its path.
        if event.mask & UInt32(IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF) != 0, watches[directory] == event.watch {
          watches[directory] = nil
          followed.remove(directory)
          events.remove(event.watch)
          names[directory] = []
        }
        missing = missing.filter { $0.value != directory }
        if names[directory] != [] { names[directory, default: []].insert(event.name) }
      }
    }
    return names
  }
}
