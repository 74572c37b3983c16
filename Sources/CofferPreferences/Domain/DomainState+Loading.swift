import CofferFiles
import CofferPropertyLists
import Glibc

// Loading the files of a domain.
extension DomainState {
  /// Loads the journal at its path, or the property list if there is no journal.
  /// - Parameter content: The epoch and the committed length of a journal. If nil, or if the journal is another one, all valid
  ///   records are loaded.
  /// - Throws: `damaged`, `newerFormat`, `symbolicLink`, `notAFile`, `accessDenied`, `io`, …
  mutating func load(
    upTo content: GenerationPage.Content?, isSparing: Bool = false
  ) throws(PreferenceError) {
    journal?.isGone = false
    guard let file = try Self.openJournal(paths) else { return try keepWhatIsKnown() }
    guard let header = try readHeader(file) else { return try salvage(file) }
    if isSparing, let content, content.epoch == header.epoch,
      let found = try IndexedJournal(file, header, length: Int(clamping: content.length))
    {
      adopt(JournalImage(tail: found.tail, byteCount: Int(clamping: content.byteCount)), OpenJournal(file, header))
      indexed = found
      return
    }
    if try switchTo(file, header) {
      if let content, content.epoch == header.epoch, try readTail(upTo: content) { return }
    }
    let size = try file.byteCount
    let length = content?.epoch == header.epoch ? min(size, Int(clamping: content?.length ?? 0)) : size
    var new = JournalImage()
    new.advance(to: JournalHeader.byteCount)
    var nobody = ChangeCollector(isWanted: false)
    let bytes = try file.read(at: new.position, count: max(0, length - new.position))
    var tail = ChangeCollector(isWanted: true)
    tail.isSplit = true
    let known = knownLength(of: header)
    if let known, known <= length {
      new.read(Array(bytes.prefix(known - new.position)), salt: header.salt, &nobody)
    }
    let start = new.position == known ? new.values : nil
    if start == nil {
      new.read(Array(bytes.dropFirst(new.position - JournalHeader.byteCount)), salt: header.salt, &nobody)
    } else {
      new.read(Array(bytes.dropFirst(new.position - JournalHeader.byteCount)), salt: header.salt, &tail)
    }
    new.noteBase(Int(clamping: header.baseLength))
    if new.damagedByteCount > 0 {
      journalIsDamaged = true
      events.append(.damaged(domain: paths.name, path: paths.journal, byteCount: new.damagedByteCount))
      // Take the values that were damaged from the property list, which has them up to its last export.
      if let list = try? paths.plistFile().read(), list.identity == new.exported { new.restore(from: list.values) }
    } else if new.position < Int(clamping: header.baseLength) {
      // The base of a journal is synchronised before it gets its name, so a short base is damage.
      journalIsDamaged = true
    }
    if let start, new.damagedByteCount == 0 {
      adopt(new, OpenJournal(file, header), after: start, tail)
    } else {
      adopt(new, OpenJournal(file, header))
    }
  }

  /// The start of the records that this process has not read, in a journal that it reads from the beginning: the end of the base,
  /// or of the part read before if it is the same journal. The commits after it are reported one by one; the values before it can
  /// only be compared. nil if there are no observers, or if the last record that this process has read is no longer in the files.
  private func knownLength(of new: JournalHeader) -> Int? {
    guard isLoaded, foreign.isSplit, indexed == nil else { return nil }
    if current?.header.epoch == new.epoch { return image.position }
    return journal?.mustBeReloaded == true ? nil : Int(clamping: new.baseLength)
  }

  /// The journal was deleted. The values that this process knows remain in force, and the next writer writes them again.
  private mutating func keepWhatIsKnown() throws(PreferenceError) {
    guard let current else { return try loadPlist() }
    journal?.isGone = true
    try readTail(current, to: try current.file.byteCount)
  }

  /// Loads the records of a journal whose header is damaged.
  private mutating func salvage(_ file: OpenFile) throws(PreferenceError) {
    guard current == nil else { return try keepWhatIsKnown() }
    let bytes = try file.read(at: 0, count: try file.byteCount)
    guard let salt = JournalSalvage.salt(of: bytes) else { return try loadPlist() }
    var new = JournalImage()
    var nobody = ChangeCollector(isWanted: false)
    new.read(bytes, salt: salt, &nobody)
    if let list = try? paths.plistFile().read(), list.identity == new.exported { new.restore(from: list.values) }
    adopt(new, nil)
  }

  /// Returns nil if the header is damaged.
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

  /// If the new journal began with the values that this process has, only its tail has to be read.
  private mutating func switchTo(_ file: OpenFile, _ new: JournalHeader) throws(PreferenceError) -> Bool {
    guard let current, new.previousEpoch == current.header.epoch, image.damagedByteCount == 0, indexed == nil else {
      return false
    }
    try readTail(current, to: Int(clamping: new.previousLength))
    guard image.position == Int(clamping: new.previousLength) else { return false }
    // The first record identifies the property list that was exported with the journal.
    let count = min(Int(clamping: new.baseLength), 128) - JournalHeader.byteCount
    let bytes = try file.read(at: JournalHeader.byteCount, count: max(0, count))
    guard image.readExport(bytes, salt: new.salt) else { return false }
    image.skipBase(Int(clamping: new.baseLength))
    journal = OpenJournal(file, new)
    // A base is synchronised before it gets its name.
    journal?.durableLength = Int(clamping: new.baseLength)
    return true
  }

  mutating func loadPlist() throws(PreferenceError) {
    let list = try paths.plistFile().read()
    adopt(JournalImage(list?.values ?? firstValues(), exported: list?.identity), nil)
  }

  /// The values of a domain without files.
  private mutating func firstValues() -> PropertyListDictionary {
    do throws(PreferenceError) {
      return try paths.firstValues() ?? PropertyListDictionary()
    } catch {
      if error != firstProblem { events.append(.firstValuesIgnored(domain: paths.name, error)) }
      firstProblem = error
      return PropertyListDictionary()
    }
  }

  /// - Parameters:
  ///   - start: The values before the changes in `tail`. If nil, the values are compared.
  ///   - tail: The changes that lead from `start` to the values of `new`.
  mutating func adopt(
    _ new: JournalImage, _ newJournal: OpenJournal?, after start: PropertyListDictionary? = nil,
    _ tail: ChangeCollector = ChangeCollector(isWanted: false)
  ) {
    if isLoaded, indexed == nil {
      foreign.note(from: image.values, to: start ?? new.values)
      foreign.append(tail)
      foreign.endCommit()
    }
    isLoaded = true
    image = new
    indexed = nil
    fetched = []
    let old = journal
    journal = newJournal
    // The same file was read again.
    if let old, old.header.epoch == newJournal?.header.epoch { journal?.mustBeReplaced = old.mustBeReplaced }
  }

  /// Used if the files cannot be written: merges an edited property list in memory only.
  mutating func mergeInMemory() throws(PreferenceError) {
    guard current != nil, try paths.plistIdentity() != image.exported,
      let list = try? paths.plistFile().read()
    else { return }
    var merged = JournalImage(image.merged(with: list.values), exported: list.identity)
    merged.skipBase(image.position)
    foreign.note(from: image.values, to: merged.values)
    foreign.endCommit()
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
