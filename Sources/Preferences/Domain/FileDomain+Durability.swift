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
    guard let journal, position > durable else { return }
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
    try synchronize()
    try export()
    try edit { state, files throws(PreferenceError) in
      if state.isJournalWasteful { try state.replaceJournal(files) }
      return []
    }
    try synchronize()
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
  }

  private func export() throws(PreferenceError) {
    // Somebody who edits the property list at the same time makes it start again, but not for ever.
    for _ in 0..<3 {
      let (values, sequence, isNeeded) = withState { ($0.image.values, $0.image.sequence, $0.mustExport) }
      guard isNeeded else { return }
      let bytes: [UInt8]
      do throws(PropertyListError) {
        bytes = try PropertyList.writeExactly(.dictionary(values))
      } catch {
        throw PreferenceError(.valueTooDeep, "\(error.code.name) \(error.detail)")
      }
      _ = try FileIdentity.at(paths.plist)
      if try place(bytes, through: sequence) { return }
    }
  }

  /// Whether it is there now: not so where the property list was edited in the meantime.
  private func place(_ bytes: [UInt8], through sequence: UInt64) throws(PreferenceError) -> Bool {
    var isDone = false
    var new: NewFile? = try NewFile(in: directory, bytes)
    try edit { state, files throws(PreferenceError) in
      guard state.image.exportedThrough < sequence else {
        isDone = true
        return []
      }
      if try FileIdentity.at(state.paths.plist) != state.image.exported {
        let before = state.image.sequence
        state.mergeEditedPlist(files)
        guard state.image.sequence == before else { return [] }
        // It could not be taken in.
        if try FileIdentity.at(state.paths.plist) != state.image.exported { try state.putAsideDamagedPlist() }
      }
      guard let file = new.take() else { return [] }
      let identity = FileIdentity(try file.file.status())
      _ = try file.place(at: state.paths.plist)
      isDone = true
      return [.exported(identity, through: sequence)]
    }
    try? directory.synchronize()
    return isDone
  }
}

extension DomainState {
  var mustExport: Bool { header != nil && (!image.unexported.isEmpty || image.exported == nil && !image.values.isEmpty) }

  /// Most of what lies in the journal has been overwritten since.
  var isJournalWasteful: Bool {
    journalIsDamaged || image.position > 64 << 10 && image.position > 2 * (image.byteCount + 32 * image.values.count)
  }

  /// Bytes of the journal that are not yet in the property list.
  var unexportedByteCount: Int { image.position - image.exportPosition }

  /// - Throws: where it is not damaged, but cannot be read: that is no reason to write over it.
  mutating func putAsideDamagedPlist() throws(PreferenceError) {
    do throws(PreferenceError) {
      _ = try PlistFile(path: paths.plist).read()
    } catch {
      guard error.code == .damaged else { throw error }
      events.append(.quarantined(domain: paths.name, path: try PlistFile.quarantine(paths.plist)))
    }
  }
}
