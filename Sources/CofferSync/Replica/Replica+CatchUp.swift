import SecretMemory
package import VaultCore

/// Reading a log of which old entries were deleted. Section 7 of docs/sync-format.md.
extension Replica {
  /// C of an entry, by which people compare what two devices have read.
  /// - Returns: nil for an entry after the last one, and for an old one that is not kept.
  package func chain(of number: UInt64) -> Digest? {
    if count > 0, number == count - 1 { return chain }
    guard let next = kept.first(where: { $0.number == number + 1 && $0.isValid }) else { return nil }
    return try? SealedEntry(parsing: next.bytes).chain
  }

  static func entries(of engine: any Engine, from start: UInt64) throws -> [NumberedEntry] {
    var entries: [NumberedEntry] = []
    var next = start
    while true {
      let batch = try engine.read(from: next, limit: batchCount)
      // A number near the end of its range would only be there to overflow.
      guard let last = batch.last, last.number >= next, last.number < 1 << 62 else { return entries }
      entries += batch.drop { $0.number < next }
      next = last.number + 1
    }
  }

  /// Goes on from a checkpoint: the members are proven entry by entry, and the checkpoint names the last of them. If no entries are
  /// missing, they are folded.
  /// - Parameter read: The entries from the next one on, if they are known.
  /// - Returns: False if there is nothing to fold: entries behind a gap are not of the log, unless a member has made them.
  /// - Throws: `entriesMissing`, if a member has made an entry behind a gap that no checkpoint closes.
  mutating func catchUp(with engine: any Engine, _ read: [NumberedEntry]? = nil, isAccepted: Bool = false) throws -> Bool {
    let entries = try read ?? Self.entries(of: engine, from: count)
    let run = Self.run(entries[...], from: count)
    if run.count < entries.count {
      var proven = self
      var found: (replica: Replica, index: Int)?
      for (index, entry) in entries.enumerated() {
        if try proven.opens(checkpoint: entry) { found = (proven, index) }
        try proven.follow(entry)
      }
      isErased = proven.isErased
      guard !proven.membership.removed.contains(id) else { throw Halt.removed }
      // One in front of the gap is folded with the others: they prove its C.
      if let found, found.index >= run.endIndex {
        var next = found.replica
        try next.take(entries[found.index], from: engine)
        guard isContinued(by: next) else { throw Halt.replaced }
        let run = Self.run(entries[found.index...], from: entries[found.index].number)
        for entry in run { try next.fold(entry.bytes, isAccepted: isAccepted) }
        self = next
        return true
      }
      for entry in entries[run.endIndex...] where try proven.isOfMember(entry) {
        guard !isAccepted else {
          strays.insert(ObjectName(of: entry.bytes))
          continue
        }
        guard strays.contains(ObjectName(of: entry.bytes)) else { throw Halt.entriesMissing }
      }
    }
    for entry in run { try fold(entry.bytes, isAccepted: isAccepted) }
    return !run.isEmpty
  }

  /// Whether the history of a checkpoint has the entries that this device has read, of the members that are in both.
  private func isContinued(by next: Replica) -> Bool {
    lastEntries.allSatisfy { id, last in next.membership[id] == nil || last.isContinued(by: next.lastEntries[id]) }
  }

  /// The entries that follow each other from a number on.
  private static func run(_ entries: ArraySlice<NumberedEntry>, from number: UInt64) -> ArraySlice<NumberedEntry> {
    var next = number
    return entries.prefix { entry in
      defer { next += 1 }
      return entry.number == next
    }
  }

  /// Whether a member has made the entry, for its number.
  func isOfMember(_ entry: NumberedEntry) throws -> Bool {
    do {
      let sealed = try SealedEntry(parsing: entry.bytes)
      return try sealed.number == entry.number && sealed.space == space && author(of: sealed) != nil
    } catch is VoidCause {
      return false
    }
  }

  /// Places the replica before an entry, whose own C is believed because its author has signed it.
  private mutating func place(before entry: NumberedEntry) throws {
    let sealed = try SealedEntry(parsing: entry.bytes)
    guard sealed.number == entry.number else { throw VoidCause.number }
    position.number = sealed.number
    position.chain = sealed.chain
  }

  /// Folds an entry of the members, if it is the next one.
  private mutating func follow(_ entry: NumberedEntry) throws {
    var next = self
    do {
      try next.place(before: entry)
      let proven = try next.prove(entry.bytes)
      guard proven.body.payload.isLinked else { return }
    } catch is VoidCause {
      return
    } catch Halt.checkpointFalse {
      // Not an entry of the members.
      return
    }
    try next.fold(entry.bytes)
    next.kept = []
    self = next
  }

  private func opens(checkpoint entry: NumberedEntry) throws -> Bool {
    var next = self
    do {
      try next.place(before: entry)
      let proven = try next.prove(entry.bytes)
      if case .checkpoint = proven.body.payload { return true }
      return false
    } catch Halt.checkpointFalse {
      // It is one, of a state that is not here yet.
      return true
    } catch is VoidCause {
      return false
    }
  }

  /// Takes the state of a checkpoint.
  private mutating func take(_ entry: NumberedEntry, from engine: any Engine) throws {
    let sealed = try SealedEntry(parsing: entry.bytes)
    try place(before: entry)
    guard let key = keys[sealed.epoch],
      case .checkpoint(let checkpoint) = try sealed.open(key).body(values).payload
    else { throw Halt.entriesMissing }
    lastEntries = checkpoint.lastEntries
    let before = state
    touchAll()
    do {
      state = try SpaceState(checkpoint.objects, digest: checkpoint.state, values) { name in
        guard let object = try engine.get(name), ObjectName(of: object) == name else { throw Halt.objectMissing(name) }
        guard let content = try sealer.open(object) else { throw Halt.checkpointFalse }
        return content
      } store: { key, entity in
        guard key.kind == .setting else { return nil }
        return try entity.shown(.content)?.settingName?.store
      }
    } catch is VoidCause {
      throw Halt.checkpointFalse
    }
    kept = []
    pending.removeAll { state.knows($0.operation) }
    try completePending(from: before)
  }
}
