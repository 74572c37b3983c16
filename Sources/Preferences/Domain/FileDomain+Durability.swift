internal import Glibc
internal import PropertyLists

extension FileDomain {
  /// Returns when everything that this process sees is on the disk.
  /// - Throws: `full`, `accessDenied`, `io`, … where that could not be done. What was set is kept, and tried again with the next call.
  public func synchronize() throws(PreferenceError) {
    schedule.syncIsDue(false)
    if hasUnsaved || withState({ $0.mustReplaceJournal }) {
      try edit { state, files throws(PreferenceError) in
        if state.mustReplaceJournal { try state.replaceJournal(files) }
        return []
      }
    }
    let (journal, position, durable) = withState { ($0.journal, $0.image.position, $0.durablePosition) }
    guard let journal else { return }
    if !withState({ $0.journal !== journal || $0.nameIsDurable }) {
      try directory.synchronize()
      withState { state in if state.journal === journal { state.nameIsDurable = true } }
    }
    guard position > durable else { return }
    do throws(PreferenceError) {
      try journal.synchronize()
    } catch {
      // The kernel says so once; the pages may be gone. Only a new file tells.
      withState { state in if state.journal === journal { state.mustReplaceJournal = true } }
      throw error
    }
    withState { state in
      if state.journal === journal { state.durablePosition = max(state.durablePosition, position) }
    }
  }

  /// Brings the property list up to date, where something has changed since it was written, and makes the journal short again where most
  /// of it is of no use any more. All is on the disk at return.
  /// - Throws: `symbolicLink`, `notAFile`, `full`, `accessDenied`, `io`, …
  public func checkpoint() throws(PreferenceError) {
    // The journal goes to the disk at the end. A property list that is newer than it is merged, as any other.
    if hasUnsaved || withState({ $0.mustReplaceJournal }) { try synchronize() }
    try export()
    try edit { state, files throws(PreferenceError) in
      if state.isJournalWasteful { try state.replaceJournal(files) }
      return []
    }
    try synchronize()
    removeLeftovers()
  }

  /// A checkpoint that leaves nothing behind in the files of what was removed or overwritten, but for what was put aside as damaged.
  /// - Throws: as `checkpoint`.
  public func compact() throws(PreferenceError) {
    try synchronize()
    try export()
    try edit { state, files throws(PreferenceError) in
      if state.journal != nil { try state.replaceJournal(files) }
      return []
    }
    removeLeftovers()
  }

  /// Also where a link leads.
  private func removeLeftovers() {
    var directories: Set = [directory]
    if let plist = try? paths.plistFile().path { directories.insert(PreferenceDirectory(LinkedFile.parent(of: plist))) }
    for directory in directories { NewFile.removeLeftovers(in: directory) }
  }

  /// For programs that end: `synchronize()`, and `checkpoint()` where that takes little time, or was put off long enough.
  ///
  /// So the time it takes to set a value does not grow with the number of values.
  /// - Throws: as `checkpoint`.
  public func settle() throws(PreferenceError) {
    let isDue = withState { state in
      state.mustExport
        && (state.image.byteCount < 32 << 10 || state.unexportedByteCount > max(64 << 10, state.image.byteCount / 2))
    }
    if isDue { try checkpoint() } else { try synchronize() }
  }

  private func export() throws(PreferenceError) {
    // Somebody who edits the property list at the same time makes it start again, but not for ever.
    for _ in 0..<3 {
      guard withState({ $0.mustExport }) else { return }
      let (values, sequence) = try withCompleteState { ($0.image.values, $0.image.sequence) }
      let bytes: [UInt8]
      do throws(PropertyListError) {
        bytes = try PropertyList.writeExactly(.dictionary(values))
      } catch {
        throw PreferenceError(.valueTooDeep, "\(error.code.name) \(error.detail)")
      }
      _ = try paths.plistIdentity()
      if try place(bytes, through: sequence) { return }
    }
  }

  /// Whether it is there now: not so where the property list was edited in the meantime.
  private func place(_ bytes: [UInt8], through sequence: UInt64) throws(PreferenceError) -> Bool {
    var isDone = false
    // A link stays, and the file at its end is replaced.
    let plist = try paths.plistFile().path
    let directory = PreferenceDirectory(LinkedFile.parent(of: plist))
    var new: NewFile? = try NewFile(in: directory, bytes)
    try edit { state, files throws(PreferenceError) in
      guard state.image.exportedThrough < sequence else {
        isDone = true
        return []
      }
      guard try state.paths.plistFile().path == plist else { return [] }
      if try state.paths.plistIdentity() != state.image.exported {
        let before = state.image.sequence
        state.mergeEditedPlist(files)
        guard state.image.sequence == before else { return [] }
        // It could not be taken in.
        if try state.paths.plistIdentity() != state.image.exported { try state.putAsideDamagedPlist() }
      }
      guard let file = new.take() else { return [] }
      let identity = FileIdentity(try file.file.status())
      _ = try file.place(at: plist)
      isDone = true
      return [.exported(identity, through: sequence)]
    }
    try? directory.synchronize()
    return isDone
  }
}

extension DomainState {
  var mustExport: Bool { header != nil && (!image.unexported.isEmpty || image.exported == nil && image.byteCount > 0) }

  /// Most of it came after the base: it holds much that was overwritten since, or much that is in no index.
  var isJournalWasteful: Bool {
    journalIsDamaged || image.position > 64 << 10 && image.position / 2 > Int(clamping: header?.baseLength ?? 0)
  }

  /// Bytes of the journal that are not yet in the property list.
  var unexportedByteCount: Int { image.position - image.exportPosition }

  /// - Throws: where it is not damaged, but cannot be read: that is no reason to write over it.
  mutating func putAsideDamagedPlist() throws(PreferenceError) {
    do throws(PreferenceError) {
      _ = try paths.plistFile().read()
    } catch {
      guard error.code == .damaged else { throw error }
      let plist = try paths.plistFile().path
      let kept = try Quarantine.keep(plist, in: PreferenceDirectory(LinkedFile.parent(of: plist)))
      events.append(.quarantined(domain: paths.name, .propertyList, path: kept))
    }
  }
}
