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
  private var fetched: Set<PropertyListDictionary.Key> = []
  /// Whether to read no more of a long journal than what is asked for.
  let isSparing: Bool
  /// The generation up to which `image` is known to be complete.
  var seen: UInt64?
  /// Why the values are not known, or not all of them.
  var problem: PreferenceError?
  /// What could not be written.
  var unsaved: [PropertyListDictionary.Key: PropertyListValue?] = [:]
  /// What others have changed and nobody has been told.
  var foreign = ChangeCollector(isWanted: true)
  /// What is to be reported outside of the lock.
  var events: [PreferenceEvent] = []
  var isKnownToBeLarge = false
  /// How much of the journal in use is on the disk.
  var durablePosition = 0
  /// The journal is put aside before another one takes its place.
  var journalIsDamaged = false
  /// A journal whose content may not have reached the disk, though the system took it: it is never trusted again.
  var mustReplaceJournal = false

  /// How much of the journal in use is known to have blocks on the disk.
  var allocated = 0
  /// For records, again and again.
  var bytes: [UInt8] = []

  init(_ paths: DomainPaths, isSparing: Bool) {
    self.paths = paths
    self.isSparing = isSparing
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
      if seen == nil { reload() }
      return
    }
    let generation = files.page.generation
    guard generation != seen else { return }
    do throws(PreferenceError) {
      try follow(files.page)
      problem = nil
    } catch {
      problem = error
    }
    seen = generation
  }

  /// Without a lock file: reads whatever there is, once.
  private mutating func reload() {
    do throws(PreferenceError) {
      try load(upTo: nil)
      try mergeInMemory()
      problem = nil
    } catch {
      problem = error
    }
    seen = 0
  }

  private mutating func follow(_ page: GenerationPage) throws(PreferenceError) {
    guard let content = page.content else { return try load(upTo: nil) }
    guard content.epoch != 0 else {
      if header != nil || seen == nil { try loadPlist() }
      return
    }
    if header?.epoch == content.epoch, let journal {
      try readTail(journal, to: Int(clamping: content.length))
    } else {
      try load(upTo: content, isSparing: isSparing && seen == nil)
    }
  }

  /// Within the lock of the writers: all that is committed, and what the page says is put right where it is not so.
  mutating func catchUp(_ files: DomainFiles) throws(PreferenceError) {
    self.files = files
    let page = files.page
    if let content = page.content, content.epoch != 0 {
      if header?.epoch == content.epoch, let journal {
        try readTail(journal, to: Int(clamping: content.length))
      } else {
        try load(upTo: content, isSparing: isSparing && seen == nil)
      }
      if header?.epoch == content.epoch, image.position == Int(clamping: content.length) {
        seen = page.generation
        problem = nil
        return
      }
    } else if let content = page.content, content.epoch == 0, header == nil, seen == page.generation, problem == nil {
      return
    }
    // The machine was started since, a writer died, or somebody put other files here.
    try load(upTo: nil)
    try page.commit(.init(epoch: header?.epoch ?? 0, length: UInt64(image.position), byteCount: UInt64(image.byteCount)))
    seen = page.generation
    problem = nil
  }

  private mutating func readTail(_ journal: OpenFile, to length: Int) throws(PreferenceError) {
    guard length > image.position, let header else { return }
    if indexed != nil { return try complete() }
    let bytes = try journal.read(at: image.position, count: length - image.position)
    image.read(bytes, salt: header.salt, &foreign)
  }

  /// The journal that lies at its path, or the property list where there is none.
  /// - Parameter content: How much of which journal is committed. Nil, or another journal: all that is right.
  /// - Throws: `damaged`, `newerFormat`, `symbolicLink`, `notAFile`, `accessDenied`, `io`, …
  private mutating func load(
    upTo content: GenerationPage.Content?, isSparing: Bool = false
  ) throws(PreferenceError) {
    guard let file = try Self.openJournal(paths) else { return try loadPlist() }
    guard let header = try readHeader(file) else { return try loadPlist() }
    if isSparing, let content, content.epoch == header.epoch,
      let found = try IndexedJournal(file, header, length: Int(clamping: content.length))
    {
      adopt(JournalImage(tail: found.tail, byteCount: Int(clamping: content.byteCount)), file, header)
      indexed = found
      return
    }
    if try switchTo(file, header) {
      if let content, content.epoch == header.epoch { return try readTail(file, to: Int(clamping: content.length)) }
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
    }
    adopt(new, file, header)
  }

  /// Nil where it is damaged: then the property list is all there is.
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
    guard let old = header, let journal, new.previousEpoch == old.epoch, image.damagedByteCount == 0, indexed == nil else {
      return false
    }
    try readTail(journal, to: Int(clamping: new.previousLength))
    guard image.position == Int(clamping: new.previousLength) else { return false }
    // The first record says which property list was written with it.
    let count = min(Int(clamping: new.baseLength), 128) - JournalHeader.byteCount
    let bytes = try file.read(at: JournalHeader.byteCount, count: max(0, count))
    guard image.readExport(bytes, salt: new.salt) else { return false }
    image.skipBase(Int(clamping: new.baseLength))
    self.journal = file
    header = new
    durablePosition = Int(clamping: new.baseLength)
    allocated = 0
    return true
  }

  private mutating func loadPlist() throws(PreferenceError) {
    let list = try PlistFile(path: paths.plist).read()
    adopt(JournalImage(list?.values ?? .init(), exported: list?.identity), nil, nil)
  }

  mutating func adopt(_ new: JournalImage, _ journal: OpenFile?, _ header: JournalHeader?) {
    if seen != nil, indexed == nil { foreign.note(from: image.values, to: new.values) }
    image = new
    indexed = nil
    fetched = []
    self.journal = journal
    self.header = header
    durablePosition = 0
    allocated = 0
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
