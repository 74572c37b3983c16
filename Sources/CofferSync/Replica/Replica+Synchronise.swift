import VaultCore

/// The loop of one device. Each call ends: it waits for nothing.
extension Replica {
  /// The entries of one read, and of one transaction.
  package static let batchCount = 500
  /// The batches that one call reads: an engine that never ends does not hold the caller.
  private static let batchLimit = 2_000
  /// The entries that one call appends. The caller calls again, after `Backoff.afterContention`, while `hasMore`.
  package static let appendLimit = 32

  /// Reads, proves and folds what the engine has, and appends what is pending.
  /// - Parameter commit: Writes the replica in one transaction; an error ends the call.
  /// - Throws: `Halt`, the errors of the engine, of `commit` and of the machine.
  package mutating func synchronise(with engine: any Engine, commit: (Replica) throws -> Void) throws {
    if let halt { throw halt }
    do {
      try readAll(from: engine, commit)
      guard !membership.removed.contains(id) else { throw Halt.removed }
      for _ in 0..<Self.appendLimit {
        guard let entry = try nextEntry() else { return }
        // An entry that is appended must be pending after a crash too.
        try commit(self)
        try upload(to: engine)
        let before = count
        if try engine.append(count, entry) == .shorter { try restore(engine) }
        try readAll(from: engine, commit)
        // The engine does not show it: another call may.
        guard count > before else { return }
      }
    } catch let halt as Halt {
      if halt.isFinal { self.halt = halt }
      throw halt
    }
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
        try compare(with: engine)
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

  private func isKept(_ entry: NumberedEntry) -> Bool {
    guard let first = kept.first, entry.number >= first.number, entry.number < count else { return true }
    return kept[Int(entry.number - first.number)].bytes == Array(entry.bytes.prefix(SealedEntry.maximumByteCount + 1))
  }

  /// Compares all kept entries with those of the engine.
  /// - Returns: The number of the first one that it lacks; nil if it has all.
  /// - Throws: `replaced`.
  @discardableResult
  private func compare(with engine: any Engine) throws -> UInt64? {
    guard var next = kept.first?.number else { return nil }
    while next < count {
      let batch = try engine.read(from: next, limit: Self.batchCount).prefix { $0.number < count }
      for entry in batch {
        guard isKept(entry) else { throw Halt.replaced }
        guard entry.number == next else { return next }
        next += 1
      }
      guard !batch.isEmpty else { return next }
    }
    return nil
  }

  /// The engine has less than before: appends what is missing, byte for byte.
  private mutating func restore(_ engine: any Engine) throws {
    guard let first = kept.first else { throw Halt.entriesMissing }
    guard let missing = try compare(with: engine) else { return }
    // Without an entry in common it may be another log.
    guard missing > first.number || missing == 0 else { throw Halt.entriesMissing }
    for entry in kept[Int(missing - first.number)...] {
      switch try engine.append(entry.number, entry.bytes) {
      case .made: restoredCount += 1
      // Another device puts them back, too.
      case .taken: break
      case .shorter: return
      }
    }
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
