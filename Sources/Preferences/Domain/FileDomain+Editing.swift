internal import Synchronization

// How a change is made: one thread of one process at a time.
extension FileDomain {
  /// Runs `body` under the lock of all writers, with everything that is committed taken in, and commits the entries it returns.
  func edit(
    isOpening: Bool = false, timeout: UInt64? = nil,
    _ body: (inout DomainState, DomainFiles) throws(PreferenceError) -> [JournalRecord.Entry]
  ) throws(PreferenceError) {
    var events: [PreferenceEvent] = []
    let result = writing.withLock { writing -> Result<Edited, PreferenceError> in
      do throws(PreferenceError) {
        return .success(try edit(&writing, isOpening, timeout ?? options.timeout, &events, body))
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
    /// The keys, collected only where somebody observes.
    var changed: [String] = []
  }

  private func edit(
    _ writing: inout WritingState, _ isOpening: Bool, _ timeout: UInt64, _ events: inout [PreferenceEvent],
    _ body: (inout DomainState, DomainFiles) throws(PreferenceError) -> [JournalRecord.Entry]
  ) throws(PreferenceError) -> Edited {
    var written: [JournalRecord.Entry] = []
    var edited = try editOnce(&writing, isOpening, timeout, &events) { state, files throws(PreferenceError) in
      written = try body(&state, files)
      return written
    }
    // Who deletes the lock file lets in others, who do not see this one: what they have overwritten is written again.
    while edited.hasWritten, writing.files.last?.isDeleted == true {
      let again = try editOnce(&writing, false, timeout, &events) { state, _ in written.filter { !state.holds($0) } }
      edited.changed += again.changed
    }
    return edited
  }

  private func editOnce(
    _ writing: inout WritingState, _ isOpening: Bool, _ timeout: UInt64, _ events: inout [PreferenceEvent],
    _ body: (inout DomainState, DomainFiles) throws(PreferenceError) -> [JournalRecord.Entry]
  ) throws(PreferenceError) -> Edited {
    let now = Deadline.now()
    var mustVerify = now &- writing.verified > 100_000_000
    if let files = writing.files.last {
      // Read-only until now, or opened before a fork; or another file lies at the path.
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
        let epoch = state.header?.epoch
        let entries = try body(&state, files)
        // Asked under the lock: an observer that comes later reads what is written here.
        let isObserved = !observers.isEmpty
        let changes = try state.appendWithUnsaved(entries, files, isWanted: isObserved)
        if isObserved {
          noteForeignChanges(&state)
          observers.note(.thisProcess, changes)
        }
        // All that was new is told by this process itself.
        if state.foreign.isEmpty, state.untold.isEmpty { told.store(stamp, ordering: .releasing) }
        return .success(
          Edited(
            hasWritten: state.image.position != position || state.header?.epoch != epoch, changed: changes.map(\.name)))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
