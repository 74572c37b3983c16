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
    /// Those to look at without a reason from the file system.
    var awaited: [Reference] = []
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
    ForkGate.install()
    var thread = pthread_t()
    // All signals go to the threads of the program.
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

  /// Has the thread look at a domain, soon.
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
    // The thread that holds the lock may not be in this process, where that was forked off.
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
  /// When to look again at domains that something happened to, on the clock of `Deadline`; 0 for never.
  ///
  /// A writer tells the others first by its write to the journal, and then by the number of the generation. Who wakes up by the
  /// first may come too early for the second.
  private var recheckTime: UInt64 = 0
  private var recheckDelay: UInt64 = 0
  private var rechecked: [any WatchedDomain] = []

  private static let longestRecheckDelay: UInt64 = 300_000_000

  mutating func run() {
    ForkGate.enter()
    while true {
      let domains = ChangeWatch.domains
      let new = directories.follow(Set(domains.map(\.watchedDirectory)))
      if !new.isEmpty { _ = handle(Dictionary(uniqueKeysWithValues: new.map { ($0, []) }), domains) }
      for domain in ChangeWatch.takeAwaited() { _ = domain.lookAgain() }
      let now = Deadline.now()
      var next: UInt64 = 0
      for domain in domains {
        let due = domain.lookAfter(now: now)
        if due == 0 { ChangeWatch.release(domain) }
        if due != 0, next == 0 || due < next { next = due }
      }
      wait(until: next)
      let names = directories.read()
      // What happens in other directories must not put off the second look at these.
      if !handle(names, domains) { recheckDomains() }
      for domain in domains where directories.unwatched.contains(domain.watchedDirectory) { _ = domain.filesHaveChanged([]) }
    }
  }

  private func wait(until next: UInt64) {
    var entries = [pollfd(fd: directories.descriptor, events: Int16(POLLIN), revents: 0)]
    entries.append(pollfd(fd: ChangeWatch.eventDescriptor, events: Int16(POLLIN), revents: 0))
    // What nobody tells of has to be looked for.
    var nanoseconds: UInt64 = directories.unwatched.isEmpty ? .max : 250_000_000
    let now = Deadline.now()
    if next != 0 { nanoseconds = min(nanoseconds, next > now ? next - now : 0) }
    if recheckTime != 0 { nanoseconds = min(nanoseconds, recheckTime > now ? recheckTime - now : 0) }
    let milliseconds = nanoseconds == .max ? -1 : Int32(min((nanoseconds + 999_999) / 1_000_000, 60_000))
    ForkGate.leave()
    _ = unsafe poll(&entries, nfds_t(entries.count), milliseconds)
    ForkGate.enter()
    var count: UInt64 = 0
    unsafe read(ChangeWatch.eventDescriptor, &count, 8)
  }

  /// - Returns: Whether something happened in the directory of a domain.
  private mutating func handle(_ names: [String: Set<String>], _ domains: [any WatchedDomain]) -> Bool {
    let concerned = domains.filter { names[$0.watchedDirectory] != nil }
    guard !concerned.isEmpty else { return false }
    rechecked = concerned
    var isNew = false
    for domain in rechecked {
      guard let changed = names[domain.watchedDirectory] else { continue }
      if domain.filesHaveChanged(changed) || domain.lookAgain() { isNew = true }
    }
    recheck(in: 1_000_000)
    // A writer that this thread has come before, or mostly this process's own doing: no reason to look at each of its writes.
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
    // A writer that the system has not let go on since.
    if rechecked.contains(where: \.isBeingWritten) { return recheck(in: Self.longestRecheckDelay) }
    recheckTime = 0
    rechecked = []
  }
}
