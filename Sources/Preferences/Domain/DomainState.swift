import Glibc
import PropertyLists

/// What a process knows of a domain, and how it follows what others do. Guarded by a lock of `FileDomain`.
struct DomainState {
  let paths: DomainPaths
  /// Nil where the domain has never been written, or cannot be.
  var files: DomainFiles?
  var journal: OpenFile?
  var header: JournalHeader?
  var image = JournalImage()
  /// Where only some values were read: the rest of them.
  var indexed: IndexedJournal?
  /// Keys of `indexed` whose values are in `image`.
  var fetched: Set<PropertyListDictionary.Key> = []
  /// Whether to read no more of a long journal than what is asked for.
  private var isSparing: Bool
  /// Whether there was a first look, to which what others change is compared.
  var isLoaded = false
  /// The generation up to which `image` is known to be complete.
  var seen: UInt64?
  /// Why the values are not known, or not all of them.
  var problem: PreferenceError?
  /// When that was found, on the clock of `Deadline`.
  private var problemTime: UInt64 = 0
  /// Why the values that another program has stored were not taken, once that was reported.
  var firstProblem: PreferenceError?
  /// What could not be written.
  var unsaved: [PropertyListDictionary.Key: PropertyListValue?] = [:]
  /// What others have changed, and no observer has noted.
  var foreign = ChangeCollector(isWanted: true)
  /// What was noted, and is told by the thread of the `ChangeWatch`.
  var untold: Set<PropertyListDictionary.Key> = []
  /// What is to be reported outside of the lock.
  var events: [PreferenceEvent] = []
  var isKnownToBeLarge = false
  /// How much of the journal in use is on the disk.
  var durablePosition = 0
  /// No journal lies where it was.
  var isJournalGone = false
  /// The journal is put aside before another one takes its place.
  var journalIsDamaged = false
  /// Where this process wrote its last record to the journal in use, and how that begins; 0 where it wrote none.
  var mark: (offset: Int, bytes: UInt64) = (0, 0)
  /// The name of the journal in use is on the disk.
  var nameIsDurable = false
  /// The files when they were last looked at without a lock file.
  private var loaded: (journal: FileIdentity?, plist: FileIdentity?) = (nil, nil)
  /// A journal whose content may not have reached the disk, though the system took it: it is never trusted again.
  var mustReplaceJournal = false

  /// How much of the journal in use is known to have blocks on the disk.
  var allocated = 0
  /// For records, again and again.
  var bytes: [UInt8] = []

  /// - Parameter isFromNothing: What the first look finds is compared to no values, and is a change.
  init(_ paths: DomainPaths, isSparing: Bool, isFromNothing: Bool) {
    self.paths = paths
    self.isSparing = isSparing && !isFromNothing
    isLoaded = isFromNothing
    foreign.isSplit = isFromNothing
  }

  /// From now on each commit of another process is a change of its own. That takes all values: the old one of each change is told too.
  mutating func beginObserving() {
    isSparing = false
    try? complete()
    foreign.isSplit = true
  }

  /// Sees to it that the value of a key is in `image`.
  mutating func fetch(_ key: PropertyListDictionary.Key) {
    guard let indexed, !indexed.known.contains(key), !fetched.contains(key) else { return }
    do throws(PreferenceError) {
      image.know(key, try indexed.value(forKey: key))
      fetched.insert(key)
    } catch {
      try? complete()
    }
  }

  /// Sees to it that all values are in `image`.
  mutating func complete() throws(PreferenceError) {
    guard indexed != nil else { return }
    let content = files?.page.content
    header = nil
    try load(upTo: content, isSparing: false)
  }

  /// In byte order.
  mutating func takeUntold() -> [String] {
    defer { untold = [] }
    return untold.sorted().map(\.name)
  }

  /// The value as this process sees it.
  func value(forKey key: PropertyListDictionary.Key) -> PropertyListValue? {
    if !unsaved.isEmpty, let own = unsaved[key] { return own }
    return image.values[key]
  }

  var values: PropertyListDictionary {
    var values = image.values
    for (key, value) in unsaved { values[key] = value }
    return values
  }

  /// Takes in what was committed since the last look. One load where there is nothing.
  mutating func refresh() {
    guard let files else {
      if seen == nil || mustTryAgain { reload() }
      return
    }
    let generation = files.page.generation
    guard generation != seen || mustTryAgain else { return }
    do throws(PreferenceError) {
      try follow(files.page)
      problem = nil
    } catch {
      note(error)
    }
    seen = generation
  }

  /// What kept the values from being read may have passed, and no generation says so: descriptors are free again, a mode was changed.
  private var mustTryAgain: Bool { problem != nil && Deadline.now() &- problemTime > 20_000_000 }

  private mutating func note(_ error: PreferenceError) {
    problem = error
    problemTime = Deadline.now()
  }

  /// Without a lock file: reads whatever there is, once.
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

  /// Without a lock file nobody says that something has changed.
  /// - Returns: Whether it has.
  mutating func reloadIfChanged() -> Bool {
    let journal = try? FileIdentity.at(paths.journal)
    let plist = try? paths.plistIdentity()
    guard files == nil, problem != nil || journal != loaded.journal || plist != loaded.plist else { return false }
    loaded = (journal, plist)
    reload()
    return true
  }

  private mutating func follow(_ page: GenerationPage) throws(PreferenceError) {
    guard let content = page.content else { return try load(upTo: nil) }
    guard content.epoch != 0 else {
      if header != nil || seen == nil { try loadPlist() }
      return
    }
    if try !readTail(upTo: content) { try load(upTo: content, isSparing: isSparing && seen == nil) }
  }

  /// Within the lock of the writers: all that is committed, and what the page says is put right where it is not so.
  mutating func catchUp(_ files: DomainFiles) throws(PreferenceError) {
    self.files = files
    let page = files.page
    let content = page.content
    if let content, content.epoch != 0 {
      if try !readTail(upTo: content) { try load(upTo: content, isSparing: isSparing && seen == nil) }
      if header?.epoch == content.epoch, image.position == Int(clamping: content.length) {
        try page.announceForgotten()
        seen = page.generation
        problem = nil
        return
      }
    } else if content != nil, header == nil, seen == page.generation, problem == nil {
      return
    }
    // The machine was started since, a writer died, or somebody put other files here.
    try load(upTo: nil)
    if let content, content.epoch == header?.epoch, image.position < Int(clamping: content.length) { journalIsDamaged = true }
    if isJournalGone || journalIsDamaged && header == nil {
      try replaceJournal(files)
    } else {
      try page.commit(.init(epoch: header?.epoch ?? 0, length: UInt64(image.position), byteCount: UInt64(image.byteCount)))
      seen = page.generation
    }
    problem = nil
  }

  /// - Returns: Whether this process now knows all that is committed. Not so where the journal is another one, or damaged, or where
  ///   this process has read what a writer did not live to commit.
  mutating func readTail(upTo content: GenerationPage.Content) throws(PreferenceError) -> Bool {
    guard header?.epoch == content.epoch, let journal else { return false }
    let length = Int(clamping: content.length)
    let damage = image.damagedByteCount
    try readTail(journal, to: length)
    return image.position == length && image.damagedByteCount == damage
  }

  mutating func readTail(_ journal: OpenFile, to length: Int) throws(PreferenceError) {
    guard length > image.position, let header else { return }
    if indexed != nil { return try complete() }
    let bytes = try journal.read(at: image.position, count: length - image.position)
    image.read(bytes, salt: header.salt, &foreign)
  }
}
