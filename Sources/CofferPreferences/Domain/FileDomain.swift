internal import CofferFiles
public import CofferPropertyLists
internal import Glibc
internal import Synchronization

/// A preference domain in files: `NAME.plist` for people and other programs, `NAME.journal` with the changes since its last
/// export, `NAME.lock` with the writers' lock and the memory that processes share.
///
/// A value that was set is visible to other processes at their next read, and to this one at once. It survives the end of the
/// process; it is on the disk within 250 ms if `ChangeWatch` runs, and when `synchronize()` returns. Reading makes no system call
/// unless something has changed. A file that cannot be read is never overwritten.
///
/// Thread-safe. Two objects for one domain behave like two processes.
public final class FileDomain: PreferenceDomain, WatchedDomain {
  /// Options of a domain.
  public struct Options: Sendable {
    /// Creates the directory and the lock file when the domain is opened, so that the first value that any process sets is
    /// visible at once. Otherwise the first write creates them, and other processes learn of it by `ChangeWatch`.
    public var isCreating = true
    /// The time to wait for another process's lock, in milliseconds.
    public var timeout: UInt64 = 2000
    /// Reads only the requested values of a large domain, as long as that suffices. For programs that use one value and end.
    public var isSparing = false
    /// Reports to the first observer all values that are in the files already, record by record as far as the journal reaches
    /// back: for a domain that was created a moment ago.
    public var isFromNothing = false
    /// The path of another program's property list, whose values are used as long as the domain has no file of its own; the first
    /// write takes them over. It is never written. If other users may write to it, it is not used, and that is reported.
    public var firstBase: String?
    /// Whether a symbolic link in place of the property list is followed, as far as `LinkedFile` allows. Not in a directory that
    /// a confined program can write to, such as an app's container: it could choose which file is overwritten.
    public var isFollowingLinks = false
    /// Uses no shared memory, as on a network file system.
    public var isUnmapped = false
    /// The limits for what this object writes.
    package var limits = PreferenceLimits.OfDomain()

    /// The default options.
    public init() {}
  }

  /// The name of the domain.
  public let name: DomainName
  /// The directory of its files.
  public let directory: PreferenceDirectory
  let paths: DomainPaths
  package let options: Options
  let observers = PreferenceObservers()
  let schedule = Schedule()

  /// Held by the one thread that writes. Locked before `state`, never after it.
  let writing = Mutex(WritingState())
  let state: Mutex<DomainState>
  /// The address of the page in use, retained by `pages`, or 0. With it, reading the stamp takes no lock.
  let page = Atomic<UInt>(0)
  /// The stamp up to which all changes were delivered. With it, the watching thread takes no lock if nothing has changed.
  let delivered = Atomic<UInt64>(0)
  /// Counts changes that the page does not count: values that could not be written, a new lock file.
  let local = Atomic<UInt64>(.random(in: 0 ... .max))

  /// Whether the files could not be opened or verified, for a reason that may pass.
  let mustTryAgain = Atomic(false)

  struct WritingState {
    /// Every lock file that was used. A reader may still be reading the page of an old one.
    var files: [DomainFiles] = []
    /// The time when the files were last verified to be at their paths, on the clock of `Deadline`.
    var verified: UInt64 = 0
  }

  /// Never fails: `problem` has the reason why values are missing, and writing throws it.
  public init(_ name: DomainName, in directory: PreferenceDirectory, _ options: Options = Options()) {
    self.name = name
    self.directory = directory
    self.options = options
    paths = DomainPaths(name, in: directory, firstBase: options.firstBase, isFollowingLinks: options.isFollowingLinks)
    state = Mutex(DomainState(paths, isSparing: options.isSparing, isFromNothing: options.isFromNothing))
    open()
    // Reads the values, so that an observer that never reads gets the changes from this moment on.
    withState { _ in }
    ChangeWatch.add(self)
  }

  // MARK: Reading

  public var stamp: UInt64 {
    let address = page.load(ordering: .acquiring)
    let own = local.load(ordering: .acquiring)
    guard let page = unsafe UnsafeRawPointer(bitPattern: address) else { return own }
    return unsafe own &+ Unmanaged<GenerationPage>.fromOpaque(page)._withUnsafeGuaranteedRef { $0.generation }
  }

  public func value(forKey key: String) -> PropertyListValue? {
    let key = PropertyListDictionary.Key(key)
    return withState { state in
      state.fetch(key)
      return state.value(forKey: key)
    }
  }

  public func values() -> PropertyListDictionary {
    withState { state in
      // `problem` has the reason if this fails.
      try? state.complete()
      return state.values
    }
  }

  /// As `values()`, for a reader that takes a missing value for a removed one.
  /// - Throws: `problem`, if values are missing.
  package func completeValues() throws(PreferenceError) -> PropertyListDictionary {
    let (values, problem) = try withCompleteState { ($0.values, $0.problem) }
    if let problem { throw problem }
    return values
  }

  /// When a value was last changed by any process, or a little later, in nanoseconds since 1970; nil if the domain has no journal.
  /// - Throws: An error if the directory cannot be read.
  package func lastChange() throws(PreferenceError) -> Int64? { try Files.status(at: paths.journal)?.modified }

  /// The names of damaged journals: of those that were put aside, and of the one in use. Values that were in them alone are missing.
  /// - Throws: An error if the directory cannot be read.
  package func damagedJournals() throws(PreferenceError) -> [String] {
    let isDamaged = withState { $0.journalIsDamaged }
    return try Quarantine.names(of: paths.journal, in: directory) + (isDamaged ? [Path.name(of: paths.journal)] : [])
  }

  /// The number of bytes of all keys and values, see `PreferenceLimits.domainByteCount`.
  public var byteCount: Int { withState { $0.image.byteCount } }

  /// The reason why values are missing: the files are damaged or cannot be read. nil if all values are there.
  public var problem: PreferenceError? { withState { $0.problem } }

  public func observe(
    note: @escaping @Sendable (PreferenceChange) -> Void,
    tell: @escaping @Sendable (PreferenceChange.Origin, [String]) -> Void
  ) -> PreferenceObservation {
    let observation = observers.add(note: note, tell: tell)
    withState { $0.beginObserving() }
    // Delivers changes made before this moment, of which no event will come.
    ChangeWatch.look(at: self)
    return observation
  }

  /// Runs `body` on the state as it is after the commits of all processes.
  func withState<Result: Sendable>(_ body: (inout DomainState) -> Result) -> Result {
    let (result, events, isComplete) = state.withLock { state in
      state.refresh()
      defer { state.events = [] }
      return (body(&state), state.events, state.problem == nil)
    }
    // The missing values may be readable at the next attempt, although no generation changes then; the stamp must change so that
    // this result is not cached.
    if !isComplete { local.add(1, ordering: .releasing) }
    PreferenceEvent.report(events)
    return result
  }

  // MARK: Opening

  private func open() {
    do throws(PreferenceError) {
      try edit(isOpening: true, timeout: min(options.timeout, 200)) { _, _ throws(PreferenceError) in [] }
    } catch {
      // The domain may still be readable.
      let files = try? DomainFiles.open(paths, creating: false, sharing)
      writing.withLock { writing in
        guard writing.files.isEmpty, let files else { return }
        use(files, &writing)
      }
    }
  }

  private var sharing: GenerationPage.Sharing { options.isUnmapped ? .unmapped : .automatic }

  private func use(_ files: DomainFiles, _ writing: inout WritingState) {
    writing.files.append(files)
    state.withLock { state in
      state.files = files
      state.seen = nil
    }
    page.store(unsafe UInt(bitPattern: Unmanaged.passUnretained(files.page).toOpaque()), ordering: .releasing)
    local.add(1, ordering: .releasing)
  }

  func openFiles(_ writing: inout WritingState, creating: Bool) throws(PreferenceError) {
    guard let files = try DomainFiles.open(paths, creating: creating, sharing) else { return }
    use(files, &writing)
  }

  /// The reason why a file could only be opened for reading.
  func readOnlyReason(_ path: String) throws(PreferenceError) -> PreferenceError {
    _ = try OpenFile.open(path, O_RDWR)
    return PreferenceError(.accessDenied, path)
  }

  // MARK: Used by the other files of this class

  var hasUnsaved: Bool { withState { !$0.unsaved.isEmpty } }

  var hasFiles: Bool { page.load(ordering: .acquiring) != 0 }

  /// The keys whose values other processes have changed since the last call.
  func takeForeignChanges() -> [String] {
    let stamp = stamp
    guard delivered.load(ordering: .acquiring) != stamp, !options.isFromNothing || !observers.isEmpty else { return [] }
    let keys = withState { state in
      noteForeignChanges(&state)
      return state.takeUndelivered()
    }
    delivered.store(stamp, ordering: .releasing)
    return keys
  }

  /// Called before this process's own, later changes are noted.
  func noteForeignChanges(_ state: inout DomainState) {
    for commit in state.foreign.takeCommits() {
      // A value of this process that could not be written hides other processes' changes of its key.
      let keys = commit.filter { state.unsaved[.init($0.name)] == nil }
      observers.note(.otherProcess, keys)
      state.undelivered.formUnion(keys.map { .init($0.name) })
    }
    if observers.isEmpty { state.foreign.isSplit = false }
  }

  func noteLocalChange() { local.add(1, ordering: .releasing) }

  func withCompleteState<Result: Sendable>(_ body: (inout DomainState) -> Result) throws(PreferenceError) -> Result {
    let result = withState { state -> Swift.Result<Result, PreferenceError> in
      do throws(PreferenceError) {
        try state.complete()
        return .success(body(&state))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// For the end of the process, when another thread may hold a lock and never release it. A process that was forked off has no
  /// other threads.
  func isFree(within milliseconds: UInt64) -> Bool {
    let deadline = Deadline(milliseconds: milliseconds)
    while writing.withLockIfAvailable({ _ in }) == nil || state.withLockIfAvailable({ _ in }) == nil {
      guard !deadline.hasPassed else { return false }
      usleep(1000)
    }
    return true
  }

  /// Whether a writer holds the lock, so that its records in the journal may not be committed yet.
  var isBeingWritten: Bool {
    // A writing thread of this process holds both locks.
    writing.withLockIfAvailable { $0.files.last?.lock.isFree == false } ?? true
  }

  var isLockReplaced: Bool { writing.withLock { $0.files.last?.isInPlace(paths) == false } }

  /// Makes the next write verify that all files are at their paths.
  func forgetVerification() { writing.withLock { $0.verified = 0 } }

  /// Opens a domain that had no files when this object was created.
  func openIfNew() {
    _ = writing.withLockIfAvailable { writing in
      guard writing.files.isEmpty else { return }
      hasToTryAgain { () throws(PreferenceError) in try openFiles(&writing, creating: false) }
    }
  }

  /// Notes whether `body` fails for a reason that may pass.
  func hasToTryAgain(_ body: () throws(PreferenceError) -> Void) {
    do throws(PreferenceError) {
      try body()
      mustTryAgain.store(false, ordering: .relaxed)
    } catch {
      mustTryAgain.store(error.code.mayPass, ordering: .relaxed)
    }
  }

  var isUnread: Bool {
    mustTryAgain.load(ordering: .relaxed) || state.withLockIfAvailable { $0.problem?.code.mayPass == true } ?? true
  }

  func noteUnsaved() {
    local.add(1, ordering: .releasing)
    if schedule.retryIsDue(true) { ChangeWatch.wake(for: self) }
  }
}
