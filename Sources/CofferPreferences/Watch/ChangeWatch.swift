internal import CLinux
internal import CofferFiles
internal import Glibc
internal import Synchronization

/// The thread of this process that waits for other processes' changes, writes values to the disk in time, and exports the
/// property lists.
///
/// Programs that only read or write a value and end do not need it: they call `FileDomain.synchronize()`.
public enum ChangeWatch {
  private struct State {
    var isStarted = false
    var domains: [Reference] = []
    /// Domains with work due, which are retained until it is done.
    var due: [ObjectIdentifier: any WatchedDomain] = [:]
    /// Domains to look at without a file system event.
    var awaited: [Reference] = []
    /// An eventfd(2) that wakes the thread.
    var event: Int32 = -1
  }

  private struct Reference: Sendable {
    weak var domain: (any WatchedDomain)?
  }

  private static let state = Mutex(State())
  /// The same descriptor, for callers that must not wait for the lock.
  private static let event = Atomic<Int32>(-1)

  /// Starts the thread, once. It blocks all signals. Values that are not on the disk are written at the end of the process.
  public static func start() {
    let isFirst = state.withLock { state in
      guard !state.isStarted else { return false }
      state.isStarted = true
      return true
    }
    guard isFirst else { return }
    event.store(coffer_eventfd(), ordering: .releasing)
    atexit { ChangeWatch.finish() }
    ForkGate.install()
    var thread = pthread_t()
    // Signals are left to the program's own threads.
    var all = sigset_t()
    var old = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &old)
    let result = unsafe pthread_create(
      &thread, nil,
      { _ in
        unsafe coffer_name_thread("coffer-watch")
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

  /// Makes the thread look at a domain soon.
  static func look(at domain: any WatchedDomain) {
    state.withLock { state in if state.isStarted { state.awaited.append(Reference(domain: domain)) } }
    wake()
  }

  fileprivate static func takeAwaited() -> [any WatchedDomain] {
    state.withLock { state in
      defer { state.awaited = [] }
      return state.awaited.compactMap(\.domain)
    }
  }

  static var domains: [any WatchedDomain] { state.withLock { $0.domains.compactMap(\.domain) } }

  /// Retains a domain that the program has released until its values are on the disk.
  static func wake(for domain: any WatchedDomain) {
    state.withLock { state in if state.isStarted { state.due[ObjectIdentifier(domain)] = domain } }
    wake()
  }

  fileprivate static func release(_ domain: any WatchedDomain) {
    // A writer makes the domain due before it retains it here.
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
    // In a process that was forked off, the thread that holds the lock may not exist: wait at most 1 s.
    let deadline = Deadline(milliseconds: 1000)
    while !deadline.hasPassed {
      if let domains = state.withLockIfAvailable({ $0.domains.compactMap(\.domain) }) {
        for domain in domains { domain.finish() }
        return
      }
      usleep(1000)
    }
  }
}

/// The work of the thread.
private struct Watcher {
  private var directories = DirectoryWatches()
  /// When to look again at domains that had an event, on the clock of `Deadline`; 0 for never.
  ///
  /// A writer causes a file system event by its write to the journal, and increments the generation only afterwards. A thread
  /// that the event wakes may therefore come too early.
  private var recheckTime: UInt64 = 0
  private var recheckDelay: UInt64 = 0
  private var rechecked: [any WatchedDomain] = []

  private static let longestRecheckDelay: UInt64 = 300_000_000
  /// For domains whose files could not be read.
  private static let unreadDelay: UInt64 = 1_000_000_000
  /// The kernel does not report that a directory above a watched one was renamed: all are looked up again after this time.
  private static let longestPause: Int32 = 60_000

  mutating func run() {
    ForkGate.enter()
    while true {
      let domains = ChangeWatch.domains
      let new = directories.follow(Set(domains.map(\.watchedDirectory)))
      if !new.isEmpty { _ = handle(Dictionary(uniqueKeysWithValues: new.map { ($0, []) }), domains) }
      for domain in ChangeWatch.takeAwaited() {
        _ = domain.lookAgain()
        if domain.isUnread { recheckLater(domain) }
      }
      let now = Deadline.now()
      var next: UInt64 = 0
      for domain in domains {
        let due = domain.lookAfter(now: now)
        if due == 0 { ChangeWatch.release(domain) }
        if due != 0, next == 0 || due < next { next = due }
      }
      wait(until: next)
      let names = directories.read()
      // Events in other directories must not postpone the second look at these.
      if !handle(names, domains) { recheckDomains() }
      for domain in domains where directories.unwatched.contains(domain.watchedDirectory) { _ = domain.filesHaveChanged([]) }
    }
  }

  private func wait(until next: UInt64) {
    var entries = [pollfd(fd: directories.descriptor, events: Int16(POLLIN), revents: 0)]
    entries.append(pollfd(fd: ChangeWatch.eventDescriptor, events: Int16(POLLIN), revents: 0))
    // Directories that cannot be watched are polled four times a second.
    var nanoseconds: UInt64 = directories.unwatched.isEmpty ? .max : 250_000_000
    let now = Deadline.now()
    if next != 0 { nanoseconds = min(nanoseconds, next > now ? next - now : 0) }
    if recheckTime != 0 { nanoseconds = min(nanoseconds, recheckTime > now ? recheckTime - now : 0) }
    let milliseconds = nanoseconds == .max ? Self.longestPause : Int32(min((nanoseconds + 999_999) / 1_000_000, 60_000))
    ForkGate.leave()
    _ = unsafe poll(&entries, nfds_t(entries.count), milliseconds)
    ForkGate.enter()
    var count: UInt64 = 0
    unsafe read(ChangeWatch.eventDescriptor, &count, 8)
  }

  /// - Returns: Whether there was an event in the directory of a domain.
  private mutating func handle(_ names: [String: Set<String>], _ domains: [any WatchedDomain]) -> Bool {
    let concerned = domains.filter { names[$0.watchedDirectory] != nil }
    guard !concerned.isEmpty else { return false }
    rechecked = concerned + rechecked.filter { old in old.isUnread && !concerned.contains { $0 === old } }
    var isNew = false
    for domain in concerned {
      guard let changed = names[domain.watchedDirectory] else { continue }
      if domain.filesHaveChanged(changed) || domain.lookAgain() { isNew = true }
    }
    recheck(in: 1_000_000)
    // Either this thread was faster than the writer, or the event is for a write of this process, so looking twice suffices.
    for microseconds in [UInt32(100), 400] where !isNew {
      usleep(microseconds)
      for domain in concerned where domain.lookAgain() { isNew = true }
    }
    return true
  }

  private mutating func recheck(in delay: UInt64) {
    recheckDelay = delay
    recheckTime = Deadline.now() + delay
  }

  private mutating func recheckDomains() {
    guard recheckTime != 0, recheckTime <= Deadline.now() else { return }
    var isNew = false
    for domain in rechecked where domain.lookAgain() { isNew = true }
    let next = isNew ? 1_000_000 : recheckDelay * 4
    if next <= Self.longestRecheckDelay { return recheck(in: next) }
    // The writer was not scheduled since.
    if rechecked.contains(where: \.isBeingWritten) { return recheck(in: Self.longestRecheckDelay) }
    recheckTime = 0
    rechecked = rechecked.filter(\.isUnread)
    if !rechecked.isEmpty { recheck(in: Self.unreadDelay) }
  }

  /// Beside those that are to be looked at again already.
  private mutating func recheckLater(_ domain: any WatchedDomain) {
    if !rechecked.contains(where: { $0 === domain }) { rechecked.append(domain) }
    if recheckTime == 0 { recheck(in: Self.unreadDelay) }
  }
}
