import CofferFiles
import CofferRequests
import VaultCore
import VaultUpkeep

/// The ways in which an agent comes to forget the keys.
extension AgentVault {
  /// Wipes the keys if they were not used for this time, or that of the vault's policy.
  /// - Parameters:
  ///   - milliseconds: nil: never.
  ///   - isChosen: Whether the agent was started with this time. Then the shorter one counts, and else that of the policy, if it has
  ///     one.
  /// - Returns: The time until the next call, in milliseconds. nil if it is locked.
  package func lock(unusedFor milliseconds: Int64?, isChosen: Bool = true) -> Int64? {
    defer { reopen() }
    return threadLock.withLock {
      guard !isLocked else { return nil }
      // A policy that cannot be read, such as a damaged one, is not one without a time: the last one that was read counts.
      if let limits = try? vault!.limits() { idleMinutes = limits.value(.idleMinutes) }
      guard !noticeNewKeys() else { return nil }
      let policy = idleMinutes == 0 ? nil : Int64(clamping: idleMinutes) * 60_000
      let times = [isChosen || policy == nil ? milliseconds : nil, policy]
      guard let milliseconds = times.compactMap(\.self).min() else { return .max }
      let left = lastUse + milliseconds - Self.clock()
      if left <= 0 { forget() }
      return left > 0 ? left : nil
    }
  }

  /// Forgets the keys, but for those that items "after first unlock" take.
  func lock() {
    threadLock.withLock {
      forget()
      reopening.isDue = false
    }
  }

  /// The agent is going to end: nothing is open any more, and the vault's file alone is the vault.
  package func end() {
    threadLock.withLock {
      forget()
      vault = nil
      publish()
    }
  }

  /// A vault whose master key another process has renewed has forgotten its keys: that is a lock.
  /// - Returns: Whether it was one.
  @discardableResult func noticeNewKeys() -> Bool {
    guard vault != nil, isLocked, !status.isLocked else { return false }
    forget()
    reopening.isDue = true
    return true
  }

  /// Reads whether the master key is another one. If the file cannot be read as that of the vault which is open, it is locked as well: the
  /// credentials that opened it prove nothing any more.
  func lookForNewKeys() {
    if !isLocked, (try? vault!.generation()) == nil, !isLocked {
      forget()
      reopening.isDue = true
    }
    noticeNewKeys()
  }

  /// The state after a look whether the master key is another one. If the vault is in use, that use finds out.
  ///
  /// If the file cannot be read, or is damaged, the state stays: it says whether this process holds keys, and each request reports the
  /// error itself.
  var statusOfNow: AgentStatus {
    _ = threadLock.withLockIfFree {
      guard !isLocked else { return }
      _ = try? vault!.generation()
      noticeNewKeys()
    }
    reopen()
    return status
  }
}
