internal import CofferFiles
import CofferPropertyLists
import Glibc

/// The values of a domain in a process, and the state needed to follow other processes' changes. Guarded by a lock of
/// `FileDomain`.
struct DomainState {
  let paths: DomainPaths
  /// nil if the domain was never written, or cannot be.
  var files: DomainFiles?
  /// The journal that was read last. See `current`.
  var journal: OpenJournal?
  var image = JournalImage()
  /// If only some values were read, the journal with the rest of them.
  var indexed: IndexedJournal?
  /// Keys of `indexed` whose values are in `image`.
  var fetched: Set<PropertyListDictionary.Key> = []
  /// Whether to read only the requested values of a long journal.
  private var isSparing: Bool
  /// Whether the values were loaded once, so that other processes' changes can be found by comparison.
  var isLoaded = false
  /// The generation up to which `image` is complete.
  var seen: UInt64?
  /// The reason why values are missing, all or some.
  var problem: PreferenceError?
  /// The time at which the problem was found, on the clock of `Deadline`.
  private var problemTime: UInt64 = 0
  /// The reported reason why another program's values were not taken over.
  var firstProblem: PreferenceError?
  /// The values that could not be written.
  var unsaved: [PropertyListDictionary.Key: PropertyListValue?] = [:]
  /// Changes by other processes that were not noted for observers yet.
  var foreign = ChangeCollector(isWanted: true)
  /// Keys of noted changes that the thread of the `ChangeWatch` has to deliver.
  var undelivered: Set<PropertyListDictionary.Key> = []
  /// Events to report outside of the lock.
  var events: [PreferenceEvent] = []
  var isKnownToBeLarge = false
  /// The file at the journal's path is damaged, and is moved aside before another one replaces it.
  var journalIsDamaged = false
  /// The identities of the files at the last look without a lock file.
  private var loaded: (journal: FileIdentity?, plist: FileIdentity?) = (nil, nil)
  /// A buffer that all records reuse.
  var bytes: [UInt8] = []

  /// - Parameter isFromNothing: The first load is compared to an empty domain, and so reported as a change.
  init(_ paths: DomainPaths, isSparing: Bool, isFromNothing: Bool) {
    self.paths = paths
    self.isSparing = isSparing && !isFromNothing
    isLoaded = isFromNothing
    foreign.isSplit = isFromNothing
  }

  /// From now on each commit of another process is a change of its own. All values are loaded, because each change is reported
  /// with the old value.
  mutating func beginObserving() {
    isSparing = false
    try? complete()
    foreign.isSplit = true
  }

  /// The journal with all values of `image`; nil if there is none, or if it must be read again.
  var current: OpenJournal? { journal?.mustBeReloaded == true ? nil : journal }

  /// Loads the value of a key into `image`.
  mutating func fetch(_ key: PropertyListDictionary.Key) {
    guard let indexed, !indexed.known.contains(key), !fetched.contains(key) else { return }
    do throws(PreferenceError) {
      image.know(key, try indexed.value(forKey: key))
      fetched.insert(key)
    } catch {
      try? complete()
    }
  }

  /// Loads all values into `image`.
  mutating func complete() throws(PreferenceError) {
    guard indexed != nil else { return }
    let content = files?.page.content
    journal?.mustBeReloaded = true
    try load(upTo: content, isSparing: false)
  }

  /// The keys in byte order.
  mutating func takeUndelivered() -> [String] {
    defer { undelivered = [] }
    return undelivered.sorted().map(\.name)
  }

  /// The value as this process sees it, including one that could not be written.
  func value(forKey key: PropertyListDictionary.Key) -> PropertyListValue? {
    if !unsaved.isEmpty, let own = unsaved[key] { return own }
    return image.values[key]
  }

  var values: PropertyListDictionary {
    var values = image.values
    for (key, value) in unsaved { values[key] = value }
    return values
  }

  /// Reads the commits since the last call. If there are none, this costs one load.
  mutating func refresh() {
    guard let files else {
      if seen == nil || mustTryAgain { reload() }
      return
    }
    let generation = files.page.generation
    guard generation != seen || mustTryAgain else { return }
    do throws(PreferenceError) {
      if let content = files.page.content {
        if content.epoch == 0 {
          if current != nil || seen == nil { try loadPlist() }
        } else if try !readTail(upTo: content) {
          try load(upTo: content, isSparing: isSparing && seen == nil)
        }
      } else {
        try load(upTo: nil)
      }
      problem = nil
    } catch {
      note(error)
    }
    seen = generation
  }

  /// The reason may be gone without a new generation: descriptors are free again, or a file's mode was changed.
  private var mustTryAgain: Bool { problem != nil && Deadline.now() &- problemTime > 20_000_000 }

  private mutating func note(_ error: PreferenceError) {
    problem = error
    problemTime = Deadline.now()
  }

  /// Without a lock file: reads the files once.
  private mutating func reload() {
    do throws(PreferenceError) {
      try load(upTo: nil)
      try mergeInMemory()
      problem = nil
    } catch {
      note(error)
    }
    seen = 0
  }

  /// Without a lock file there is no generation, so the files' identities are compared.
  /// - Returns: Whether anything has changed.
  mutating func reloadIfChanged() -> Bool {
    let journal = try? FileIdentity.at(paths.journal)
    let plist = try? paths.plistIdentity()
    guard files == nil, problem != nil || journal != loaded.journal || plist != loaded.plist else { return false }
    loaded = (journal, plist)
    reload()
    return true
  }

  /// Under the writers' lock: reads all commits, and corrects the page if it does not agree with the journal.
  mutating func catchUp(_ files: DomainFiles) throws(PreferenceError) {
    self.files = files
    let page = files.page
    let content = page.content
    if let content, content.epoch != 0 {
      if try !readTail(upTo: content) { try load(upTo: content, isSparing: isSparing && seen == nil) }
      if current?.header.epoch == content.epoch, image.position == Int(clamping: content.length) {
        try page.announceForgotten()
        seen = page.generation
        problem = nil
        return
      }
    } else if content != nil, current == nil, seen == page.generation, problem == nil {
      return
    }
    // The machine was restarted, a writer died, or the files were replaced.
    try load(upTo: nil)
    let epoch = current?.header.epoch
    if let content, content.epoch == epoch, image.position < Int(clamping: content.length) { journalIsDamaged = true }
    if journal?.isGone == true || journalIsDamaged && epoch == nil {
      try replaceJournal(files)
    } else {
      try page.commit(.init(epoch: epoch ?? 0, length: UInt64(image.position), byteCount: UInt64(image.byteCount)))
      seen = page.generation
    }
    problem = nil
  }

  /// - Returns: Whether this process now has all committed records. False if the journal was replaced or is damaged, or if this
  ///   process has read a record that its writer did not commit.
  mutating func readTail(upTo content: GenerationPage.Content) throws(PreferenceError) -> Bool {
    guard let current, current.header.epoch == content.epoch else { return false }
    let length = Int(clamping: content.length)
    let damage = image.damagedByteCount
    try readTail(current, to: length)
    return image.position == length && image.damagedByteCount == damage
  }

  mutating func readTail(_ journal: OpenJournal, to length: Int) throws(PreferenceError) {
    guard length > image.position else { return }
    if indexed != nil { return try complete() }
    let bytes = try journal.file.read(at: image.position, count: length - image.position)
    image.read(bytes, salt: journal.header.salt, &foreign)
  }
}
