internal import CLinux
internal import Glibc
internal import Synchronization

/// The one thread of this process that waits for changes of others, sees to it that values get to the disk in time, and keeps the
/// property lists up to date.
///
/// Programs that only read or write a value and end do without it: they call `FileDomain.synchronize()`.
public enum ChangeWatch {
  private struct State {
    var isStarted = false
    var domains: [Reference] = []
    /// Those with something to do, whether or not anybody else still holds them.
    var due: [ObjectIdentifier: any WatchedDomain] = [:]
    /// To wake the thread.
    var event: Int32 = -1
  }

  private struct Reference: Sendable {
    weak var domain: (any WatchedDomain)?
  }

  private static let state = Mutex(State())
  /// The same descriptor, for those who must not wait.
  private static let event = Atomic<Int32>(-1)

  /// Starts the thread, once. It takes no signals. At the end of the process what is not on the disk is written.
  public static func start() {
    let isFirst = state.withLock { state in
      guard !state.isStarted else { return false }
      state.isStarted = true
      return true
    }
    guard isFirst else { return }
    event.store(coffer_eventfd(), ordering: .releasing)
    atexit { ChangeWatch.finish() }
    var thread = pthread_t()
    // All signals go to the threads of the program.
    var all = sigset_t()
    var old = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &old)
    let result = unsafe pthread_create(
      &thread, nil,
      { _ in
        var watcher = Watcher()
        watcher.run()
        return nil
      }, nil)
    unsafe pthread_sigmask(SIG_SETMASK, &old, nil)
    if result == 0 { pthread_detach(thread) }
  }

  static func add(_ domain: any WatchedDomain) {
    state.withLock { state in
      state.domains.removeAll { $0.domain == nil }
      state.domains.append(Reference(domain: domain))
    }
    wake()
  }

  static var domains: [any WatchedDomain] { state.withLock { $0.domains.compactMap(\.domain) } }

  /// A domain that the program lets go of stays until its values are on the disk.
  static func wake(for domain: any WatchedDomain) {
    state.withLock { state in if state.isStarted { state.due[ObjectIdentifier(domain)] = domain } }
    wake()
  }

  fileprivate static func release(_ domain: any WatchedDomain) {
    // Whoever writes makes it due first, and has it held then.
    state.withLock { state in if domain.nextTime == 0 { state.due[ObjectIdentifier(domain)] = nil } }
  }

  static func wake() {
    let event = event.load(ordering: .acquiring)
    guard event >= 0 else { return }
    var one: UInt64 = 1
    unsafe write(event, &one, 8)
  }

  fileprivate static var eventDescriptor: Int32 { event.load(ordering: .acquiring) }

  private static func finish() {
    for domain in domains { domain.finish() }
  }
}

/// The work of the thread.
private struct Watcher {
  private let inotify = coffer_inotify()
  private var directories: [String: Int32] = [:]
  /// Watched since a moment ago, or not at all: what happened in them nobody has said.
  private var unknown: Set<String> = []
  private var hasNewWatch = false
  /// Time until the next look at domains that something happened to, in nanoseconds; 0 where there is none to come.
  ///
  /// A writer tells the others first by its write to the journal, and then by the number of the generation. Who wakes up by the
  /// first may come too early for the second.
  private var recheck: UInt64 = 0
  private var rechecked: [any WatchedDomain] = []

  mutating func run() {
    while true {
      let domains = ChangeWatch.domains
      watch(domains)
      let now = Deadline.now()
      var next: UInt64 = 0
      for domain in domains {
        let due = domain.lookAfter(now: now)
        if due == 0 { ChangeWatch.release(domain) }
        if due != 0, next == 0 || due < next { next = due }
      }
      wait(until: next, isComplete: domains.allSatisfy { directories[$0.watchedDirectory] != nil })
      var names = changedNames()
      for directory in unknown { names[directory] = [] }
      unknown = []
      hasNewWatch = false
      if names.isEmpty {
        recheckDomains()
      } else {
        handle(names, domains)
      }
    }
  }

  private mutating func watch(_ domains: [any WatchedDomain]) {
    let wanted = Set(domains.map(\.watchedDirectory))
    for directory in directories.keys where !wanted.contains(directory) {
      if let watch = directories.removeValue(forKey: directory) { inotify_rm_watch(inotify, watch) }
    }
    let mask = UInt32(IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF)
    for directory in wanted where directories[directory] == nil {
      let watch = unsafe inotify_add_watch(inotify, directory, mask | UInt32(IN_CREATE))
      if watch >= 0 {
        directories[directory] = watch
        hasNewWatch = true
      }
      unknown.insert(directory)
    }
  }

  /// - Parameter isComplete: Whether every directory is watched. One that is not there yet is looked for.
  private func wait(until next: UInt64, isComplete: Bool) {
    var entries = [pollfd(fd: inotify, events: Int16(POLLIN), revents: 0)]
    entries.append(pollfd(fd: ChangeWatch.eventDescriptor, events: Int16(POLLIN), revents: 0))
    var nanoseconds: UInt64 = isComplete ? .max : 250_000_000
    if hasNewWatch { nanoseconds = 0 }
    let now = Deadline.now()
    if next != 0 { nanoseconds = min(nanoseconds, next > now ? next - now : 0) }
    if recheck != 0 { nanoseconds = min(nanoseconds, recheck) }
    let milliseconds = nanoseconds == .max ? -1 : Int32(min((nanoseconds + 999_999) / 1_000_000, 60_000))
    _ = unsafe poll(&entries, nfds_t(entries.count), milliseconds)
    var count: UInt64 = 0
    unsafe read(ChangeWatch.eventDescriptor, &count, 8)
  }

  /// Names of files by directory. Empty sets: something happened, and nobody knows to what.
  private mutating func changedNames() -> [String: Set<String>] {
    var names: [String: Set<String>] = [:]
    let byWatch = Dictionary(directories.map { ($1, $0) }) { first, _ in first }
    while true {
      var buffer = [UInt8](repeating: 0, count: 16 << 10)
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(inotify, $0.baseAddress, $0.count) }
      guard count > 0 else { return names }
      var offset = 0
      while offset + 16 <= count {
        let (watch, mask, length) = unsafe buffer.withUnsafeBytes { bytes in
          unsafe (
            bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self),
            bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self),
            Int(bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
          )
        }
        let name = String(decoding: buffer[(offset + 16)..<(offset + 16 + length)].prefix { $0 != 0 }, as: UTF8.self)
        offset += 16 + length
        if mask & UInt32(IN_Q_OVERFLOW) != 0 {
          unknown.formUnion(directories.keys)
        }
        guard let directory = byWatch[watch] else { continue }
        // A directory that was deleted or moved away is looked for again by its path.
        if mask & UInt32(IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF) != 0 {
          if directories[directory] == watch { directories[directory] = nil }
          inotify_rm_watch(inotify, watch)
        }
        names[directory, default: []].insert(name)
      }
    }
  }

  private mutating func handle(_ names: [String: Set<String>], _ domains: [any WatchedDomain]) {
    rechecked = domains.filter { names[$0.watchedDirectory] != nil }
    var isNew = false
    for domain in rechecked {
      guard let changed = names[domain.watchedDirectory] else { continue }
      if domain.filesHaveChanged(changed) || domain.lookAgain() { isNew = true }
    }
    recheck = 1_000_000
    // Mostly this process's own doing: no reason to look at each of its writes.
    if !isNew { usleep(500) }
  }

  private mutating func recheckDomains() {
    guard recheck != 0 else { return }
    var isNew = false
    for domain in rechecked where domain.lookAgain() { isNew = true }
    recheck = isNew ? 1_000_000 : recheck * 4
    if recheck > 300_000_000 {
      recheck = 0
      rechecked = []
    }
  }
}
