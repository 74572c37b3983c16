internal import CofferFiles
internal import CofferPropertyLists
internal import Glibc

extension FileDomain {
  /// Returns when all values that this process sees are on the disk.
  /// - Throws: `full`, `accessDenied`, `io`, … Values that could not be written are kept, and the next call tries again.
  public func synchronize() throws(PreferenceError) {
    if schedule.syncTime != 0 {
      // Nothing else remembers that the property list lacks these values.
      schedule.exportIsDue(true)
      ChangeWatch.wake(for: self)
    }
    schedule.syncIsDue(false)
    if hasUnsaved || withState({ $0.journal?.mustBeReplaced == true }) {
      try edit { state, files throws(PreferenceError) in
        if state.journal?.mustBeReplaced == true { try state.replaceJournal(files) }
        return []
      }
    }
    let (journal, position) = withState { ($0.journal, $0.image.position) }
    guard let journal else { return }
    /// Unless another journal has replaced it meanwhile.
    func note(_ body: (inout OpenJournal) -> Void) {
      withState { state in
        guard var new = state.journal, new.file === journal.file else { return }
        body(&new)
        state.journal = new
      }
    }
    if !journal.isNameDurable {
      try directory.synchronize()
      note { $0.isNameDurable = true }
    }
    guard position > journal.durableLength else { return }
    do throws(PreferenceError) {
      try journal.file.synchronizeData()
    } catch {
      // The kernel reports a failed write once and may drop the pages, so only a new file can be trusted.
      note { $0.mustBeReplaced = true }
      throw error
    }
    note { $0.durableLength = max($0.durableLength, position) }
  }

  /// Exports the property list if values have changed since the last export, and compacts the journal if most of it is obsolete.
  /// Everything is on the disk at return.
  /// - Throws: `symbolicLink`, `notAFile`, `full`, `accessDenied`, `io`, …
  public func checkpoint() throws(PreferenceError) {
    // The journal is synchronised at the end. A newer property list is merged, as in any edit.
    if hasUnsaved || withState({ $0.journal?.mustBeReplaced == true }) { try synchronize() }
    try export()
    try edit { state, files throws(PreferenceError) in
      if state.isJournalWasteful { try state.replaceJournal(files) }
      return []
    }
    try synchronize()
    if withState({ !$0.mustExport }) { schedule.exportIsDue(false) }
    removeLeftovers()
  }

  /// A checkpoint after which removed and overwritten values are no longer in the files, except in damaged files that were moved
  /// aside.
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

  /// Also removes leftovers in the directory to which a symbolic link leads.
  private func removeLeftovers() {
    var directories: Set = [directory]
    if let plist = try? paths.plistFile().path { directories.insert(PreferenceDirectory(Path.parent(of: plist))) }
    for directory in directories { NewFile.removeLeftovers(in: directory) }
  }

  /// For programs that are about to end: calls `synchronize()`; calls `checkpoint()` instead if that takes little time, or has
  /// been postponed long enough. So the time to set a value does not grow with the number of values.
  /// - Throws: as `checkpoint`.
  public func settle() throws(PreferenceError) {
    let isDue = withState { state in
      state.mustExport
        && (state.image.byteCount < 32 << 10 || state.unexportedByteCount > max(64 << 10, state.image.byteCount / 2))
    }
    if isDue { try checkpoint() } else { try synchronize() }
  }

  private func export() throws(PreferenceError) {
    // An edit of the property list at the same time makes the export start again, at most three times.
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

  /// Whether the property list was replaced. It is not if it was edited in the meantime.
  private func place(_ bytes: [UInt8], through sequence: UInt64) throws(PreferenceError) -> Bool {
    var isDone = false
    // A symbolic link is kept, and its target is replaced.
    let plist = try paths.plistFile().path
    let directory = PreferenceDirectory(Path.parent(of: plist))
    var new: NewFile? = try NewFile.written(in: directory, bytes)
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
        // The edited property list could not be merged.
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
  var mustExport: Bool { current != nil && (!image.unexported.isEmpty || image.exported == nil && image.byteCount > 0) }

  /// Most of the journal follows its base, so that much of it was overwritten since, or is not indexed.
  var isJournalWasteful: Bool {
    journalIsDamaged || image.position > 64 << 10 && image.position / 2 > Int(clamping: current?.header.baseLength ?? 0)
  }

  /// The number of bytes of the journal that are not exported to the property list yet.
  var unexportedByteCount: Int { image.position - image.exportPosition }

  /// - Throws: An error if the file is not damaged but cannot be read, because then it must not be overwritten.
  mutating func putAsideDamagedPlist() throws(PreferenceError) {
    do throws(PreferenceError) {
      _ = try paths.plistFile().read()
    } catch {
      guard error.code == .damaged else { throw error }
      let plist = try paths.plistFile().path
      let kept = try Quarantine.keep(plist, in: PreferenceDirectory(Path.parent(of: plist)))
      events.append(.quarantined(domain: paths.name, .propertyList, path: kept))
    }
  }
}
