import CofferFiles
import CofferPropertyLists
import Glibc

// All of these are called under the writers' lock, after `catchUp`.
extension DomainState {
  /// Adds a record. At return it survives the end of this process, and all others can read it.
  /// - Returns: The changes.
  mutating func append(
    _ entries: [JournalRecord.Entry], _ files: DomainFiles, isWanted: Bool = true
  ) throws(PreferenceError) -> [PreferenceChange.Key] {
    guard !entries.isEmpty else { return [] }
    if journal == nil || journal?.mustBeReplaced == true || journalIsDamaged { try replaceJournal(files) }
    guard let current else { throw PreferenceError(.io, paths.journal) }
    let record = JournalRecord(sequence: image.sequence + 1, entries: entries)
    bytes.removeAll(keepingCapacity: bytes.count < 1 << 16)
    record.append(to: &bytes, salt: current.header.salt)
    // No reader accepts a larger record. Only a huge property list of another program leads to one.
    guard bytes.count <= JournalRecord.maximumBodyByteCount else {
      throw PreferenceError(.domainTooLarge, "\(paths.journal): a record of \(bytes.count) bytes")
    }
    let start = image.position
    try journal?.append(bytes, at: start)
    var changes = ChangeCollector(isWanted: isWanted)
    image.apply(entries, sequence: record.sequence, &changes)
    image.advance(to: start + bytes.count)
    do throws(PreferenceError) {
      try commit(files)
    } catch {
      // The record was not committed, so this process must not use it either: load the journal again.
      journal?.mustBeReloaded = true
      seen = nil
      throw error
    }
    noteSize()
    return changes.take()
  }

  private mutating func noteSize() {
    guard !isKnownToBeLarge, image.byteCount >= PreferenceLimits.noticeByteCount else { return }
    isKnownToBeLarge = true
    events.append(.large(domain: paths.name, byteCount: image.byteCount))
  }

  /// Adds a record, preceded by one with the values that could not be written until now.
  /// - Returns: The changes for this process, which has seen its own unwritten values all the time.
  mutating func appendWithUnsaved(
    _ entries: [JournalRecord.Entry], _ files: DomainFiles, isWanted: Bool
  ) throws(PreferenceError) -> [PreferenceChange.Key] {
    guard !unsaved.isEmpty else { return try append(entries, files, isWanted: isWanted) }
    _ = try append(
      unsaved.sorted { $0.key < $1.key }.compactMap { key, value in
        guard image.values[key] != value else { return nil }
        return value.map { .set(key, $0) } ?? .remove(key)
      }, files)
    unsaved = [:]
    return try append(entries, files, isWanted: isWanted)
  }

  mutating func commit(_ files: DomainFiles) throws(PreferenceError) {
    try files.page.commit(
      .init(epoch: current?.header.epoch ?? 0, length: UInt64(image.position), byteCount: UInt64(image.byteCount)))
    seen = files.page.generation
  }

  /// Writes a journal that has every key once, and replaces the one in use. It is on the disk at return.
  ///
  /// The property list that goes with it must have been written before, or be the one that was read.
  mutating func replaceJournal(_ files: DomainFiles) throws(PreferenceError) {
    try complete()
    var new = JournalHeader.following(epoch: current?.header.epoch ?? 0, length: UInt64(image.position))
    let sequence = image.sequence + 1
    var bytes = [UInt8](repeating: 0, count: JournalHeader.byteCount)
    bytes.reserveCapacity(image.byteCount + image.values.count * 32 + 256)
    let exported = JournalRecord.Entry.exported(image.exported, through: sequence)
    JournalRecord(sequence: sequence, entries: [exported]).append(to: &bytes, salt: new.salt)
    var offsets: [UInt32] = []
    for (key, value) in image.values.entries.sorted(by: { $0.key < $1.key }) where image.unexported[key] == nil {
      offsets.append(UInt32(bytes.count))
      JournalRecord(sequence: sequence, entries: [.set(key, value)]).append(to: &bytes, salt: new.salt)
    }
    // Reading a short journal as a whole is faster than using an index.
    if bytes.count > IndexedJournal.leastByteCount {
      new.indexOffset = UInt32(bytes.count)
      JournalRecord(sequence: sequence, entries: [.index(offsets)]).append(to: &bytes, salt: new.salt)
    }
    // After `through`, because they are not in the property list.
    for key in image.unexported.keys.sorted() {
      let entry = image.values[key].map { JournalRecord.Entry.set(key, $0) } ?? .remove(key)
      JournalRecord(sequence: sequence + 1, entries: [entry]).append(to: &bytes, salt: new.salt)
    }
    new.baseLength = UInt64(bytes.count)
    bytes.replaceSubrange(0..<JournalHeader.byteCount, with: new.bytes)
    let file = try NewFile.written(in: paths.directory, bytes)
    if journalIsDamaged, try FileIdentity.at(paths.journal) != nil {
      events.append(
        .quarantined(domain: paths.name, .journal, path: try Quarantine.keep(paths.journal, in: paths.directory)))
    }
    try files.page.beginReplacing()
    let placed: OpenFile
    do throws(PreferenceError) {
      placed = try file.place(at: paths.journal)
    } catch {
      // The old journal remains in use: it may be all there is.
      if current != nil { try? commit(files) }
      throw error
    }
    let isNameDurable = (try? paths.directory.synchronize()) != nil
    journal = OpenJournal(new: placed, new, length: bytes.count, isNameDurable: isNameDurable)
    image.restart(sequence: sequence, position: bytes.count)
    journalIsDamaged = false
    try commit(files)
  }

  /// Merges a property list that another program has changed, replaced or deleted. Values of this domain that were not exported
  /// yet are kept.
  mutating func mergeEditedPlist(_ files: DomainFiles) {
    do throws(PreferenceError) {
      guard try paths.plistIdentity() != image.exported else { return }
      try complete()
      let list = try paths.plistFile().read()
      guard current != nil else {
        adopt(JournalImage(list?.values ?? .init(), exported: list?.identity), nil)
        return try commit(files)
      }
      let merged = image.merged(with: list?.values ?? .init())
      let entries = image.values.entries(to: merged)
      let through = image.exportedThrough
      let changes = try append(entries + [.exported(list?.identity, through: through)], files)
      for change in changes { foreign.note(.init(change.name), old: change.old, new: change.new) }
      foreign.endCommit()
    } catch {
      // A damaged property list may be in the middle of being written. It is checked again before it is replaced.
      events.append(.notExported(domain: paths.name, error))
    }
  }

  /// Called if the file at the journal's path is not the one that this process has read: it was deleted, truncated, or replaced
  /// by an older one. The known values are written again, and the file there is kept under another name.
  mutating func recoverJournal(_ files: DomainFiles) throws(PreferenceError) {
    guard let current else { return }
    let there = try FileIdentity.at(paths.journal)
    if let there, try current.isIntact(there, length: image.position) { return }
    journalIsDamaged = there != nil
    try replaceJournal(files)
  }
}
