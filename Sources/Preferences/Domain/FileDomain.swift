internal import Glibc
public import PropertyLists
internal import Synchronization

/// A preference domain in files: `NAME.plist` for people and other programs, `NAME.journal` with what has happened since, `NAME.lock`
/// for what the processes that use it share.
///
/// What one process sets is seen by all others at their next read, and by this one at once. A value that was set survives the end of
/// the process; it is on the disk within 250 ms where `ChangeWatch` runs, and at the return of `synchronize()`. Reading takes no system
/// call unless something has changed. A file that cannot be read is never overwritten.
///
/// Thread-safe. Two objects for one domain behave like two processes.
public final class FileDomain: PreferenceDomain, WatchedDomain {
  public struct Options: Sendable {
    /// Makes the directory and the lock file when the domain is opened, so that the first value that any process sets is seen at once.
    /// Otherwise they are made by the first write, which others learn of by `ChangeWatch`.
    public var isCreating = true
    /// How long to wait for another process, in milliseconds.
    public var timeout: UInt64 = 2000
    /// Reads of a large domain only what is asked for, until something else is needed. For programs that use one value and end.
    public var isSparing = false
    /// Tells the first observer of all that the files hold already, as far as the journal reaches back record by record: for a domain that
    /// was made a moment ago.
    public var isFromNothing = false
    /// The path of a property list of another program, which holds the values as long as the domain has no file of its own: the first
    /// write takes them over. It is never written to. One that others may have written is not used, and reported.
    public var firstBase: String?
    /// Whether a symbolic link in the place of the property list is followed, as `LinkedFile` allows it. Not in a directory that others
    /// than the user's own programs write to, an app's container for example: they would choose what is overwritten.
    public var isFollowingLinks = false
    /// Uses no shared memory, as on a network file system.
    public var isUnmapped = false

    public init() {}
  }

  public let name: DomainName
  public let directory: PreferenceDirectory
  let paths: DomainPaths
  package let options: Options
  let observers = PreferenceObservers()
  let schedule = Schedule()

  /// Held by the one thread that writes. Taken before `state`, never after it.
  let writing = Mutex(WritingState())
  let state: Mutex<DomainState>
  /// The page in use, retained by `pages`, or 0. So reading the stamp takes no lock.
  let page = Atomic<UInt>(0)
  /// The stamp up to which everybody has been told of everything. So the thread that looks for news takes no lock where there is none.
  let told = Atomic<UInt64>(0)
  /// Counts what changes without the page: what could not be written, another lock file.
  let local = Atomic<UInt64>(.random(in: 0 ... .max))

  struct WritingState {
    /// Every lock file that was used. A reader may still look at the page of an old one.
    var files: [DomainFiles] = []
    /// When the files were last found where they should be, on the clock of `Deadline`.
    var verified: UInt64 = 0
  }

  /// Never fails: why values are not there is said by `problem`, and by whatever writes.
  public init(_ name: DomainName, in directory: PreferenceDirectory, _ options: Options = Options()) {
    self.name = name
    self.directory = directory
    self.options = options
    paths = DomainPaths(name, in: directory, firstBase: options.firstBase, isFollowingLinks: options.isFollowingLinks)
    state = Mutex(DomainState(paths, isSparing: options.isSparing, isFromNothing: options.isFromNothing))
    open()
    // Whoever observes and never reads is told of what comes after this moment.
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
    return read { state in
      state.fetch(key)
      return state.value(forKey: key)
    }
  }

  public func values() -> PropertyListDictionary {
    read { state in
      // Why it is not possible is said by `problem`.
      try? state.complete()
      return state.values
    }
  }

  /// Bytes of all keys and values, see `PreferenceLimits.domainByteCount`.
  public var byteCount: Int { read { $0.image.byteCount } }

  /// Why values are missing: the files are damaged or cannot be read. Nil where all is well.
  public var problem: PreferenceError? { read { $0.problem } }

  public func observe(
    note: @escaping @Sendable (PreferenceChange) -> Void,
    tell: @escaping @Sendable (PreferenceChange.Origin, [String]) -> Void
  ) -> PreferenceObservation {
    let observation = observers.add(note: note, tell: tell)
    withState { $0.beginObserving() }
    // What came before this moment, and nothing will come for.
    ChangeWatch.look(at: self)
    return observation
  }

  private func read<Result: Sendable>(_ body: (inout DomainState) -> Result) -> Result {
    let (result, events, isComplete) = state.withLock { state in
      state.refresh()
      defer { state.events = [] }
      return (body(&state), state.events, state.problem == nil)
    }
    // What is missing now may be there at the next look, though no generation says so: nobody keeps this answer.
    if !isComplete { local.add(1, ordering: .releasing) }
    PreferenceEvent.report(events)
    return result
  }

  // MARK: Opening

  private func open() {
    do throws(PreferenceError) {
      try edit(isOpening: true, timeout: min(options.timeout, 200)) { _, _ throws(PreferenceError) in [] }
    } catch {
      // It can still be read, perhaps.
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

  /// Why a file that was opened for reading alone could not be opened otherwise.
  func readOnlyReason(_ path: String) throws(PreferenceError) -> PreferenceError {
    _ = try OpenFile.open(path, O_RDWR)
    return PreferenceError(.accessDenied, path)
  }

  // MARK: For the other files of this class

  func withState<Result: Sendable>(_ body: (inout DomainState) -> Result) -> Result { read(body) }

  var hasUnsaved: Bool { withState { !$0.unsaved.isEmpty } }

  var hasFiles: Bool { page.load(ordering: .acquiring) != 0 }

  /// The keys of which others have changed the values since the last call.
  func takeForeignChanges() -> [String] {
    let stamp = stamp
    guard told.load(ordering: .acquiring) != stamp, !options.isFromNothing || !observers.isEmpty else { return [] }
    let keys = withState { state in
      noteForeignChanges(&state)
      return state.takeUntold()
    }
    told.store(stamp, ordering: .releasing)
    return keys
  }

  /// Before this process's own changes that come after them.
  func noteForeignChanges(_ state: inout DomainState) {
    for commit in state.foreign.takeCommits() {
      // A value that could not be written hides what others set.
      let keys = commit.filter { state.unsaved[.init($0.name)] == nil }
      observers.note(.otherProcess, keys)
      state.untold.formUnion(keys.map { .init($0.name) })
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

  /// For the end of the process: another thread may hold a lock, and never give it back. In a process that was forked off there is none.
  func isFree(within milliseconds: UInt64) -> Bool {
    let deadline = Deadline(milliseconds: milliseconds)
    while writing.withLockIfAvailable({ _ in }) == nil || state.withLockIfAvailable({ _ in }) == nil {
      guard !deadline.hasPassed else { return false }
      usleep(1000)
    }
    return true
  }

  /// Whether a writer holds the lock: what it has added to the journal may not be committed yet.
  var isBeingWritten: Bool {
    // A thread of this process that writes holds both.
    writing.withLockIfAvailable { $0.files.last?.lock.isFree == false } ?? true
  }

  var isLockReplaced: Bool { writing.withLock { $0.files.last?.isInPlace(paths) == false } }

  /// Lets the next write look whether all files are where they should be.
  func forgetVerification() { writing.withLock { $0.verified = 0 } }

  /// A domain that nobody had written when it was opened.
  func openIfNew() {
    _ = writing.withLockIfAvailable { writing in
      guard writing.files.isEmpty, let files = try? DomainFiles.open(paths, creating: false, sharing) else { return }
      use(files, &writing)
    }
  }

  func noteUnsaved() {
    local.add(1, ordering: .releasing)
    if schedule.retryIsDue(true) { ChangeWatch.wake(for: self) }
  }
}
