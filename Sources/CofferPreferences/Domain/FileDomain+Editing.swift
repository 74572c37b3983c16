internal import CofferFiles
internal import Synchronization

// Changing a domain: one thread of one process at a time.
extension FileDomain {
  /// Runs `body` under the writers' lock, after all commits of other processes were read, and commits the entries that it
  /// returns.
  func edit(
    isOpening: Bool = false, timeout: UInt64? = nil,
    _ body: (inout DomainState, DomainFiles) throws(PreferenceError) -> [JournalRecord.Entry]
  ) throws(PreferenceError) {
    var events: [PreferenceEvent] = []
    let result = writing.withLock { writing -> Result<Edited, PreferenceError> in
      do throws(PreferenceError) {
        let timeout = timeout ?? options.timeout
        var written: [JournalRecord.Entry] = []
        var edited = try editOnce(&writing, isOpening, timeout, &events) { state, files throws(PreferenceError) in
          written = try body(&state, files)
          return written
        }
        // If the lock file was deleted, another process may have locked a new one and written concurrently; reapply our entries.
        while edited.hasWritten, writing.files.last?.isDeleted == true {
          let again = try editOnce(&writing, false, timeout, &events) { state, _ in written.filter { !state.holds($0) } }
          edited.changed += again.changed
        }
        return .success(edited)
      } catch {
        return .failure(error)
      }
    }
    PreferenceEvent.report(events)
    let edited = try result.get()
    if edited.hasWritten, schedule.syncIsDue(true) { ChangeWatch.wake(for: self) }
    observers.tell(.thisProcess, edited.changed)
  }

  struct Edited {
    var hasWritten = false
    /// The changed keys, collected only if there are observers.
    var changed: [String] = []
  }

  private func editOnce(
    _ writing: inout WritingState, _ isOpening: Bool, _ timeout: UInt64, _ events: inout [PreferenceEvent],
    _ body: (inout DomainState, DomainFiles) throws(PreferenceError) -> [JournalRecord.Entry]
  ) throws(PreferenceError) -> Edited {
    let now = Deadline.now()
    var mustVerify = now &- writing.verified > 100_000_000
    if let files = writing.files.last {
      // Reopen the files if they are read-only, were opened before a fork, or are no longer at their paths.
      if !files.isWritable || !files.isOwn || files.isDeleted || mustVerify && !files.isInPlace(paths) {
        try openFiles(&writing, creating: true)
        mustVerify = true
      }
    } else {
      try openFiles(&writing, creating: !isOpening || options.isCreating)
    }
    guard let files = writing.files.last else { return Edited() }
    if !files.isWritable { throw try readOnlyReason(paths.lock) }
    try files.lock.take(within: timeout)
    defer { files.lock.release() }
    let result = state.withLock { state -> Result<Edited, PreferenceError> in
      defer {
        events += state.events
        state.events = []
      }
      do throws(PreferenceError) {
        try state.catchUp(files)
        if mustVerify {
          try state.recoverJournal(files)
          state.mergeEditedPlist(files)
          writing.verified = now
        }
        let position = state.image.position
        let epoch = state.current?.header.epoch
        let entries = try body(&state, files)
        // Read under the lock, so that an observer added later reads the values written here.
        let isObserved = !observers.isEmpty
        let changes = try state.appendWithUnsaved(entries, files, isWanted: isObserved)
        if isObserved {
          noteForeignChanges(&state)
          observers.note(.thisProcess, changes)
        }
        // This process delivers all of its own changes itself.
        if state.foreign.isEmpty, state.undelivered.isEmpty { delivered.store(stamp, ordering: .releasing) }
        return .success(
          Edited(
            hasWritten: state.image.position != position || state.current?.header.epoch != epoch, changed: changes.map(\.name)))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
