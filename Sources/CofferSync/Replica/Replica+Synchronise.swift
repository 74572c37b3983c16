import VaultCore

/// The loop of one device. Each call ends: it waits for nothing but what `pause` waits for.
extension Replica {
  /// The entries of one read, and of one transaction.
  package static let batchCount = 500
  /// The batches that one call reads: an engine that never ends does not hold the caller.
  private static let batchLimit = 2_000
  /// The attempts to append of one call. The caller calls again while `hasMore`.
  package static let appendLimit = 32

  /// Reads, proves and folds what the engine has, and appends what is pending.
  /// - Parameters:
  ///   - pause: Waits for `Backoff.afterContention`, after so many attempts in a row to append that another device has preceded. Without
  ///     it devices that write at the same time precede each other again and again.
  ///   - commit: Writes the replica in one transaction; an error ends the call.
  /// - Throws: `Halt`, the errors of the engine, of `commit` and of the machine.
  package mutating func synchronise(
    with engine: any Engine, pause: (_ tries: Int) -> Void = { _ in }, commit: (Replica) throws -> Void
  ) throws {
    if let halt {
      guard halt == .replaced, try isAgain(engine) else { throw halt }
      self.halt = nil
    }
    try noting { replica in
      try replica.readAll(from: engine, commit)
      guard !replica.membership.removed.contains(replica.id) else { throw Halt.removed }
      var tries = 0
      for _ in 0..<Self.appendLimit {
        guard try replica.appendNext(to: engine, &tries, pause, commit) else { return }
      }
    }
  }

  /// Notes the error after which nothing goes on until the person accepts the history of the engine.
  mutating func noting<Result>(_ body: (inout Replica) throws -> Result) throws -> Result {
    do {
      return try body(&self)
    } catch let halt as Halt {
      if halt.isFinal { self.halt = halt }
      throw halt
    }
  }

  /// - Returns: False if there is nothing to append, or if the engine does not show it: another call may.
  private mutating func appendNext(
    to engine: any Engine, _ tries: inout Int, _ pause: (_ tries: Int) -> Void, _ commit: (Replica) throws -> Void
  ) throws -> Bool {
    guard let entry = try nextEntry() else { return false }
    // An entry that is appended must be pending after a crash too.
    try commit(self)
    try upload(to: engine)
    let before = count
    switch try engine.append(count, entry) {
    case .made: tries = 0
    case .shorter: try restore(engine)
    case .taken:
      tries += 1
      pause(tries)
    }
    try readAll(from: engine, commit)
    return count > before
  }

  /// Whether there is something to append.
  package var hasMore: Bool {
    !drafts.isEmpty || wantsPresence || (awaitedRemovals.isEmpty && pending.contains { !$0.isHeld })
  }

  private mutating func readAll(from engine: any Engine, _ commit: (Replica) throws -> Void) throws {
    var hasRestored = false
    var hasCompared = false
    for _ in 0..<Self.batchLimit {
      // With the last entry, which shows whether it is still the same log.
      let start = count == 0 ? 0 : count - 1
      var batch = try engine.read(from: start, limit: Self.batchCount)[...]
      var hasLast = count == 0
      if count > 0, let first = batch.first, first.number == start {
        guard isKept(first) else { throw Halt.replaced }
        hasLast = true
        batch = batch.dropFirst()
      }
      if let first = batch.first, first.number > count, try catchUp(with: engine) {
        try commit(self)
        continue
      }
      guard let first = batch.first, first.number == count else {
        // The end, but for entries that are not of the log. An engine without the last entry was put back.
        if hasLast || hasRestored { return }
        hasRestored = true
        try restore(engine)
        continue
      }
      if try fold(batch), !hasCompared {
        hasCompared = true
        _ = try compare(engine, from: kept.first?.number ?? 0)
      }
      try commit(self)
    }
  }

  /// Folds entries as long as they follow each other.
  /// - Returns: Whether one of them may be the only sign of another history.
  mutating func fold(_ batch: ArraySlice<NumberedEntry>) throws -> Bool {
    var isSuspicious = false
    for entry in batch {
      guard entry.number == count else { break }
      let cause = try fold(entry.bytes)
      if cause == .chain || (cause == .epoch && isOfLaterEpoch(entry.bytes)) { isSuspicious = true }
    }
    return isSuspicious
  }

  private func isOfLaterEpoch(_ bytes: [UInt8]) -> Bool {
    do { return try SealedEntry(parsing: bytes).epoch > epoch } catch { return false }
  }
}

extension Halt {
  /// Whether nothing goes on until the person accepts the history of the engine.
  var isFinal: Bool {
    switch self {
    case .forked, .replaced, .checkpointFalse, .keyWithheld, .removed, .notAMember: true
    case .keyMissing, .objectMissing, .entriesMissing: false
    }
  }
}
