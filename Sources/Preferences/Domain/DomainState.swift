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
  /// The generation up to which `image` is known to be complete.
  var seen: UInt64?
  /// Why the values are not known, or not all of them.
  var problem: PreferenceError?
  /// When that was found, on the clock of `Deadline`.
  private var problemTime: UInt64 = 0
  /// What could not be written.
  var unsaved: [PropertyListDictionary.Key: PropertyListValue?] = [:]
  /// What others have changed and nobody has been told.
  var foreign = ChangeCollector(isWanted: true)
  /// What is to be reported outside of the lock.
  var events: [PreferenceEvent] = []
  var isKnownToBeLarge = false
  /// How much of the journal in use is on the disk.
  var durablePosition = 0
  /// No journal lies where it was.
  var isJournalGone = false
  /// The journal is put aside before another one takes its place.
  var journalIsDamaged = false
  /// The name of the journal in use is on the disk.
  var nameIsDurable = false
  /// The files when they were last looked at without a lock file.
  private var loaded: (journal: FileIdentity?, plist: FileIdentity?) = (nil, nil)
  /// A journal whose content may not have reached the disk, though the system took it: it is never trusted again.
  var mustReplaceJournal = false

  /// For records, again and again.
  var bytes: [UInt8] = []

  init(_ paths: DomainPaths) { self.paths = paths }

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
    let plist = try? FileIdentity.at(paths.plist)
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
    if try !readTail(upTo: content) { try load(upTo: content) }
  }

  /// Within the lock of the writers: all that is committed, and what the page says is put right where it is not so.
  mutating func catchUp(_ files: DomainFiles) throws(PreferenceError) {
    self.files = files
    let page = files.page
    let content = page.content
    if let content, content.epoch != 0 {
      if try !readTail(upTo: content) { try load(upTo: content) }
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
  private mutating func readTail(upTo content: GenerationPage.Content) throws(PreferenceError) -> Bool {
    guard header?.epoch == content.epoch, let journal else { return false }
    let length = Int(clamping: content.length)
    let damage = image.damagedByteCount
    try readTail(journal, to: length)
    return image.position == length && image.damagedByteCount == damage
  }

  private mutating func readTail(_ journal: OpenFile, to length: Int) throws(PreferenceError) {
    guard length > image.position, let header else { return }
    let bytes = try journal.read(at: image.position, count: length - image.position)
    image.read(bytes, salt: header.salt, &foreign)
  }

  /// The journal that lies at its path, or the property list where there is none.
  /// - Parameter content: How much of which journal is committed. Nil, or another journal: all that is right.
  /// - Throws: `damaged`, `newerFormat`, `symbolicLink`, `notAFile`, `accessDenied`, `io`, …
  private mutating func load(upTo content: GenerationPage.Content?) throws(PreferenceError) {
    isJournalGone = false
    guard let file = try Self.openJournal(paths) else { return try keepWhatIsKnown() }
    guard let header = try readHeader(file) else { return try salvage(file) }
    if try switchTo(file, header) {
      if let content, content.epoch == header.epoch, try readTail(upTo: content) { return }
    }
    let size = Int(try file.status().st_size)
    let length = content?.epoch == header.epoch ? min(size, Int(clamping: content?.length ?? 0)) : size
    var new = JournalImage()
    new.advance(to: JournalHeader.byteCount)
    var nobody = ChangeCollector(isWanted: false)
    let bytes = try file.read(at: new.position, count: max(0, length - new.position))
    new.read(bytes, salt: header.salt, &nobody)
    new.noteBase(Int(clamping: header.baseLength))
    if new.damagedByteCount > 0 {
      journalIsDamaged = true
      events.append(.damaged(domain: paths.name, path: paths.journal, byteCount: new.damagedByteCount))
      // The property list has what was folded into it.
      if let list = try? PlistFile(path: paths.plist).read(), list.identity == new.exported { new.restore(from: list.values) }
    } else if new.position < Int(clamping: header.baseLength) {
      // The base was on the disk before it had this name.
      journalIsDamaged = true
    }
    adopt(new, file, header)
  }

  /// Somebody has taken the journal away. What this process knows of it is still so, and is written again by the next writer.
  private mutating func keepWhatIsKnown() throws(PreferenceError) {
    guard header != nil, let journal else { return try loadPlist() }
    isJournalGone = true
    try readTail(journal, to: Int(try journal.status().st_size))
  }

  /// The records of a journal whose header is damaged.
  private mutating func salvage(_ file: OpenFile) throws(PreferenceError) {
    guard header == nil else { return try keepWhatIsKnown() }
    let bytes = try file.read(at: 0, count: Int(try file.status().st_size))
    guard let salt = JournalSalvage.salt(of: bytes) else { return try loadPlist() }
    var new = JournalImage()
    var nobody = ChangeCollector(isWanted: false)
    new.read(bytes, salt: salt, &nobody)
    if let list = try? PlistFile(path: paths.plist).read(), list.identity == new.exported { new.restore(from: list.values) }
    adopt(new, nil, nil)
  }

  /// Nil where it is damaged.
  private mutating func readHeader(_ file: OpenFile) throws(PreferenceError) -> JournalHeader? {
    do throws(PreferenceError) {
      return try JournalHeader(file.read(at: 0, count: JournalHeader.byteCount), paths.journal)
    } catch {
      guard error.code == .damaged else { throw error }
      journalIsDamaged = true
      events.append(.damaged(domain: paths.name, path: paths.journal, byteCount: JournalHeader.byteCount))
      return nil
    }
  }

  /// Where the new journal began with what this process knows, there is nothing to read but its tail.
  private mutating func switchTo(_ file: OpenFile, _ new: JournalHeader) throws(PreferenceError) -> Bool {
    guard let old = header, let journal, new.previousEpoch == old.epoch, image.damagedByteCount == 0 else { return false }
    try readTail(journal, to: Int(clamping: new.previousLength))
    guard image.position == Int(clamping: new.previousLength) else { return false }
    // The first record says which property list was written with it.
    let count = min(Int(clamping: new.baseLength), 128) - JournalHeader.byteCount
    let bytes = try file.read(at: JournalHeader.byteCount, count: max(0, count))
    guard image.readExport(bytes, salt: new.salt) else { return false }
    image.skipBase(Int(clamping: new.baseLength))
    self.journal = file
    header = new
    nameIsDurable = false
    durablePosition = Int(clamping: new.baseLength)
    return true
  }

  private mutating func loadPlist() throws(PreferenceError) {
    let list = try PlistFile(path: paths.plist).read()
    adopt(JournalImage(list?.values ?? .init(), exported: list?.identity), nil, nil)
  }

  mutating func adopt(_ new: JournalImage, _ journal: OpenFile?, _ header: JournalHeader?) {
    if seen != nil { foreign.note(from: image.values, to: new.values) }
    image = new
    self.journal = journal
    self.header = header
    durablePosition = 0
    nameIsDurable = false
  }

  /// For those who cannot write: a property list that was changed is seen, but not taken into the journal.
  private mutating func mergeInMemory() throws(PreferenceError) {
    guard header != nil, try FileIdentity.at(paths.plist) != image.exported,
      let list = try? PlistFile(path: paths.plist).read()
    else { return }
    var merged = JournalImage(image.merged(with: list.values), exported: list.identity)
    merged.skipBase(image.position)
    image = merged
  }

  private static func openJournal(_ paths: DomainPaths) throws(PreferenceError) -> OpenFile? {
    do throws(PreferenceError) {
      return try OpenFile.open(paths.journal, O_RDWR)
    } catch {
      guard error.code == .accessDenied || error.code == .readOnly else { throw error }
      return try OpenFile.open(paths.journal, O_RDONLY)
    }
  }
}
