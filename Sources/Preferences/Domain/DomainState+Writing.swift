import Glibc
import PropertyLists

// All of this within the lock of the writers, and after `catchUp`.
extension DomainState {
  /// Adds a record. It is safe against the end of this process at return, and visible to all others.
  /// - Returns: What has changed.
  mutating func append(
    _ entries: [JournalRecord.Entry], _ files: DomainFiles, isWanted: Bool = true
  ) throws(PreferenceError) -> [PreferenceChange.Key] {
    guard !entries.isEmpty else { return [] }
    if journal == nil || mustReplaceJournal || journalIsDamaged { try replaceJournal(files) }
    guard let journal, let header else { throw PreferenceError(.io, paths.journal) }
    let record = JournalRecord(sequence: image.sequence + 1, entries: entries)
    bytes.removeAll(keepingCapacity: bytes.count < 1 << 16)
    record.append(to: &bytes, salt: header.salt)
    // What no reader would take. Only a huge property list of somebody else makes such a one.
    guard bytes.count <= JournalRecord.maximumBodyByteCount else {
      throw PreferenceError(.domainTooLarge, "\(paths.journal): a record of \(bytes.count) bytes")
    }
    let start = image.position
    let end = start + bytes.count
    try write(journal, at: start)
    mark = (start, Self.mark(of: bytes))
    var changes = ChangeCollector(isWanted: isWanted)
    image.apply(entries, sequence: record.sequence, &changes)
    image.advance(to: end)
    do throws(PreferenceError) {
      try commit(files)
    } catch {
      // Nobody will find the record. So it has to go from this process's view as well.
      self.header = nil
      seen = nil
      throw error
    }
    noteSize()
    return changes.take()
  }

  /// Writes `bytes`. Where they reach beyond what the file has, zeros come behind: to write where there are blocks already takes a
  /// third off the time of a synchronization, and works on a full disk.
  private mutating func write(_ journal: OpenFile, at start: Int) throws(PreferenceError) {
    let end = start + bytes.count
    if end <= allocated { return try journal.write(bytes, at: start) }
    let chunk = min(max(4096, start), 64 << 10)
    let padded = (end / chunk + 1) * chunk
    do throws(PreferenceError) {
      try journal.write(bytes + [UInt8](repeating: 0, count: padded - end), at: start)
      allocated = padded
    } catch {
      guard error.code == .full else { throw error }
      do throws(PreferenceError) {
        try journal.write(bytes, at: start)
      } catch {
        // What was written is no record before it is committed. On a full disk it may be just what somebody else needs.
        ftruncate(journal.number, off_t(start))
        allocated = 0
        throw error
      }
    }
  }

  private mutating func noteSize() {
    guard !isKnownToBeLarge, image.byteCount >= PreferenceLimits.noticeByteCount else { return }
    isKnownToBeLarge = true
    events.append(.large(domain: paths.name, byteCount: image.byteCount))
  }

  /// Adds a record, and before it one of what could not be written until now.
  /// - Returns: What has changed for this process, which has seen its own values all the time.
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
      .init(epoch: header?.epoch ?? 0, length: UInt64(image.position), byteCount: UInt64(image.byteCount)))
    seen = files.page.generation
  }

  /// Writes a journal that holds every key once, and puts it in the place of the one in use. It is on the disk at return.
  ///
  /// The property list that goes with it must have been written before, or be the one that was read.
  mutating func replaceJournal(_ files: DomainFiles) throws(PreferenceError) {
    try complete()
    var new = JournalHeader.following(epoch: header?.epoch ?? 0, length: UInt64(image.position))
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
    // A short journal is read faster as a whole.
    if bytes.count > IndexedJournal.leastByteCount {
      new.indexOffset = UInt32(bytes.count)
      JournalRecord(sequence: sequence, entries: [.index(offsets)]).append(to: &bytes, salt: new.salt)
    }
    // Behind `through`, as they are not in the property list.
    for key in image.unexported.keys.sorted() {
      let entry = image.values[key].map { JournalRecord.Entry.set(key, $0) } ?? .remove(key)
      JournalRecord(sequence: sequence + 1, entries: [entry]).append(to: &bytes, salt: new.salt)
    }
    new.baseLength = UInt64(bytes.count)
    bytes.replaceSubrange(0..<JournalHeader.byteCount, with: new.bytes)
    let file = try NewFile(in: paths.directory, bytes)
    if journalIsDamaged, try FileIdentity.at(paths.journal) != nil {
      events.append(
        .quarantined(domain: paths.name, .journal, path: try Quarantine.keep(paths.journal, in: paths.directory)))
    }
    try files.page.beginReplacing()
    do throws(PreferenceError) {
      journal = try file.place(at: paths.journal)
    } catch {
      // The old one goes on to hold, and what is known of it: it may be all there is.
      if header != nil { try? commit(files) }
      throw error
    }
    nameIsDurable = (try? paths.directory.synchronize()) != nil
    header = new
    isJournalGone = false
    mark = (0, 0)
    image.restart(sequence: sequence, position: bytes.count)
    durablePosition = bytes.count
    allocated = bytes.count
    mustReplaceJournal = false
    journalIsDamaged = false
    try commit(files)
  }

  /// Takes in a property list that somebody else has changed, replaced or deleted. What was changed here and is not in it stays.
  mutating func mergeEditedPlist(_ files: DomainFiles) {
    do throws(PreferenceError) {
      guard try paths.plistIdentity() != image.exported else { return }
      try complete()
      let list = try paths.plistFile().read()
      guard header != nil else {
        adopt(JournalImage(list?.values ?? .init(), exported: list?.identity), nil, nil)
        return try commit(files)
      }
      let merged = image.merged(with: list?.values ?? .init())
      let entries = image.values.entries(to: merged)
      let through = image.exportedThrough
      let changes = try append(entries + [.exported(list?.identity, through: through)], files)
      for change in changes { foreign.note(.init(change.name), old: change.old, new: change.new) }
      foreign.endCommit()
    } catch {
      // One that is damaged may be in the middle of being written. It is looked at again before it is replaced.
      events.append(.notExported(domain: paths.name, error))
    }
  }

  /// What lies at the path of the journal is not what this process has read: it was deleted, cut off, or an older one put there. What
  /// is known is written again, and what lies there is kept under another name.
  mutating func recoverJournal(_ files: DomainFiles) throws(PreferenceError) {
    guard let journal, let header else { return }
    let there = try FileIdentity.at(paths.journal)
    let status = try journal.status()
    // Somebody who may write to the directory can put a file of his own there, and would read what comes.
    if let there, status.st_uid == geteuid(), there.inode == FileIdentity(status).inode, there.size >= UInt64(image.position),
      try journal.read(at: 0, count: JournalHeader.byteCount) == header.bytes
    {
      let found = mark.offset == 0 ? mark.bytes : Self.mark(of: try journal.read(at: mark.offset, count: 8))
      guard found != mark.bytes else { return }
    }
    journalIsDamaged = there != nil
    try replaceJournal(files)
  }

  /// Length and checksum of the record at the start.
  private static func mark(of bytes: [UInt8]) -> UInt64 {
    guard bytes.count >= 8 else { return 0 }
    return unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: UInt64.self) }
  }
}
