/// What the thread of `ChangeWatch` looks after. All functions are called on that thread, or at the end of the process.
protocol WatchedDomain: AnyObject, Sendable {
  var watchedDirectory: String { get }

  /// Something has happened to the files of these names, or nobody knows to which where there are none. Tells the observers.
  /// - Returns: Whether it was something new to this process.
  func filesHaveChanged(_ names: Set<String>) -> Bool

  /// Looks again, without knowing that anything has happened.
  func lookAgain() -> Bool

  /// Whether something is going to be new in a moment, of which no file system tells.
  var isBeingWritten: Bool { get }

  /// Does what is due.
  /// - Returns: When something is due next, on the clock of `Deadline`; 0 for never.
  func lookAfter(now: UInt64) -> UInt64

  /// When something is due, as `lookAfter` says it.
  var nextTime: UInt64 { get }

  /// The process ends.
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
    // The journal and the lock change all the time; where the journal is replaced, the next write notices.
    guard names.isEmpty || names.contains(own[0]) || isLockReplaced else { return isNew }
    forgetVerification()
    try? edit { _, _ in [] }
    return deliver() || isNew
  }

  func lookAgain() -> Bool {
    if !hasFiles { openIfNew() }
    let isNew = deliver()
    guard !hasFiles else { return isNew }
    if withState({ $0.reloadIfChanged() }) { noteLocalChange() }
    return deliver() || isNew
  }

  /// Takes in what others have done and tells the observers.
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
