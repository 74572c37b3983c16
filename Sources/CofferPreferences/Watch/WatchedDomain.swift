internal import Synchronization

/// A domain that the thread of `ChangeWatch` serves. All functions are called on that thread, or at the end of the process.
protocol WatchedDomain: AnyObject, Sendable {
  var watchedDirectory: String { get }

  /// Called after events for the files of these names; an empty set means that the names are unknown. Notifies the observers.
  /// - Returns: Whether there were changes new to this process.
  func filesHaveChanged(_ names: Set<String>) -> Bool

  /// Looks for changes without an event.
  func lookAgain() -> Bool

  /// Whether a writer is about to commit, for which the file system will send no event.
  var isBeingWritten: Bool { get }

  /// Whether its files could not be read, for a reason that may pass without an event.
  var isUnread: Bool { get }

  /// Does the work that is due.
  /// - Returns: The time of the next work, on the clock of `Deadline`; 0 for never.
  func lookAfter(now: UInt64) -> UInt64

  /// The time of the next work, as returned by `lookAfter`.
  var nextTime: UInt64 { get }

  /// Called at the end of the process.
  func finish()
}

extension FileDomain {
  var watchedDirectory: String { directory.path }

  var nextTime: UInt64 { schedule.nextTime }

  func filesHaveChanged(_ names: Set<String>) -> Bool {
    let own = [name.fileName + ".plist", name.fileName + ".lock", name.fileName + ".journal"]
    guard names.isEmpty || own.contains(where: names.contains) else { return false }
    let isNew = lookAgain()
    guard hasFiles else { return isNew }
    // Events for the journal and the lock are too frequent to verify the files each time; a replaced journal is found by the next
    // write.
    guard names.isEmpty || names.contains(own[0]) || isLockReplaced else { return isNew }
    verify()
    return deliver() || isNew
  }

  private func verify() {
    forgetVerification()
    hasToTryAgain { () throws(PreferenceError) in try edit { _, _ in [] } }
  }

  func lookAgain() -> Bool {
    if !hasFiles { openIfNew() } else if mustTryAgain.load(ordering: .relaxed) { verify() }
    let isNew = deliver()
    guard !hasFiles else { return isNew }
    if withState({ $0.reloadIfChanged() }) { noteLocalChange() }
    return deliver() || isNew
  }

  /// Reads other processes' changes and notifies the observers.
  private func deliver() -> Bool {
    let keys = takeForeignChanges()
    guard !keys.isEmpty else { return false }
    observers.tell(.otherProcess, keys)
    return true
  }

  func lookAfter(now: UInt64) -> UInt64 {
    if schedule.retryTime != 0, schedule.retryTime <= now {
      schedule.retryIsDue(false)
      do throws(PreferenceError) {
        try edit { _, _ in [] }
        schedule.syncIsDue(true)
      } catch {
        schedule.retryIsDue(true)
      }
    }
    if schedule.syncTime != 0, schedule.syncTime <= now {
      do throws(PreferenceError) {
        try synchronize()
        schedule.exportIsDue(true)
        if withState({ $0.unexportedByteCount > max(64 << 10, $0.image.byteCount / 2) }) { try checkpoint() }
      } catch {
        PreferenceEvent.report([.unsaved(domain: name.name, error)])
        schedule.retryIsDue(true)
      }
    }
    if schedule.exportTime != 0, schedule.exportTime <= now {
      schedule.exportIsDue(false)
      do throws(PreferenceError) {
        try checkpoint()
      } catch {
        PreferenceEvent.report([.notExported(domain: name.name, error)])
      }
    }
    return schedule.nextTime
  }

  func finish() {
    guard schedule.nextTime != 0, isFree(within: 1000) else { return }
    do throws(PreferenceError) {
      try checkpoint()
    } catch {
      PreferenceEvent.report([.notExported(domain: name.name, error)])
    }
  }
}
