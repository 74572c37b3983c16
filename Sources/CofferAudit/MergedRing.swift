internal import AppContainers

/// Writes into one ring, and counts repetitions instead of writing them. Not thread-safe.
struct MergedRing {
  /// The time after an entry in which its repetitions are counted, in milliseconds. For refusals it doubles as long as they
  /// continue, up to `longestPeriod`, so that a process that repeats for days does not fill the ring.
  private static let period: Int64 = 1000
  private static let longestPeriod: Int64 = 1000 << 12

  private struct Repeated {
    var entry: AuditEntry
    let number: UInt64
    let slot: Int
    var period = MergedRing.period
    var count: UInt64 = 0
  }

  /// The properties that two merged entries have in common. For refusals these are the process, its program and the operation,
  /// because the program chooses the group and the item, and thereby the reason.
  private struct Key: Hashable {
    let process: Int32
    let operation: String
    let decision: AuditEntry.Decision
    let executable: String
    let application: String
    let what: [String]

    init(_ entry: AuditEntry, isRefusal: Bool) {
      (process, operation, decision) = (entry.caller.process, entry.operation, entry.decision)
      (executable, application) = (entry.caller.executable, entry.application)
      what = isRefusal ? [] : [entry.group, entry.item, entry.reason]
    }
  }

  private let ring: AuditRing
  private let log: AuditLog
  private let counts: RepeatCounts
  private var recent: [Key: Repeated] = [:]

  /// Writes the counts of processes that were killed.
  /// - Throws: As `AuditLog`.
  init(in state: String, _ ring: AuditRing, at now: Int64) throws {
    let files = try AuditDirectory(in: state, ring)
    self.ring = ring
    log = try AuditLog(files, ring.limits)
    let (counts, left) = try RepeatCounts.claim(in: files)
    self.counts = counts
    if !left.isEmpty { try Self.note(left, state, ring, log, at: now) }
    try RepeatCounts.clear(in: files, but: counts)
  }

  /// A process may have been killed after it wrote the count and before it cleared the slot. Such a count is in the ring already.
  private static func note(
    _ left: [UInt64: UInt64], _ state: String, _ ring: AuditRing, _ log: AuditLog, at now: Int64
  ) throws {
    var left = left
    var entries: [UInt64: AuditEntry] = [:]
    var lines = try AuditReading(of: state, ring)?.lines(from: left.keys.min() ?? 0)
    while let logged = try lines?.nextEntry() {
      if left[logged.number] != nil { entries[logged.number] = logged.entry }
      if let noted = RepeatNote(logged.entry.reason), left[noted.number] == noted.count { left[noted.number] = nil }
    }
    for (number, count) in left.sorted(by: { $0.key < $1.key }) {
      // Without its entry, which the ring may have dropped, the count is meaningless.
      guard var entry = entries[number] else { continue }
      entry.milliseconds = now
      entry.reason = RepeatNote(count: count, number: number).appended(to: entry.reason)
      try log.append(entry, isSynced: false)
    }
  }

  mutating func append(_ entry: AuditEntry, isMerged: Bool, isSynced: Bool) throws {
    guard isMerged else {
      try log.append(entry, isSynced: isSynced)
      return
    }
    let key = Key(entry, isRefusal: ring == .refusals)
    var period = Self.period
    if let known = recent[key] {
      if (0..<known.period).contains(entry.milliseconds - known.entry.milliseconds) {
        try counts.set(known.slot, known.number, known.count + 1)
        recent[key]!.count += 1
        return
      }
      if ring == .refusals, known.count > 0 { period = min(2 * known.period, Self.longestPeriod) }
    } else if recent.count >= RepeatCounts.slotCount {
      try flush(at: entry.milliseconds)
    }
    if let known = recent[key] { try note(known, at: entry.milliseconds) }
    let slot = recent[key]?.slot ?? recent.count
    recent[key]?.count = 0
    let number = try log.append(entry, isSynced: isSynced).number
    try counts.set(slot, number, 0)
    recent[key] = Repeated(entry: entry, number: number, slot: slot, period: period)
  }

  /// Writes the counts.
  mutating func flush(at now: Int64) throws {
    for repeated in recent.values.sorted(by: { $0.number < $1.number }) { try note(repeated, at: now) }
    try counts.clear()
    recent = [:]
  }

  private func note(_ repeated: Repeated, at now: Int64) throws {
    guard repeated.count > 0 else { return }
    var entry = repeated.entry
    // The time of writing, because entries are in the order of their times.
    entry.milliseconds = now
    entry.reason = RepeatNote(count: repeated.count, number: repeated.number).appended(to: entry.reason)
    try log.append(entry, isSynced: false)
  }
}
