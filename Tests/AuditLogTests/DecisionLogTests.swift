import CofferAudit
import Foundation
import Testing

/// Repeated requests give one entry a second. Time is that of the entries.
@Suite struct DecisionLogTests {
  private let bench = Bench()
  private let log: DecisionLog

  init() throws { log = try DecisionLog(in: bench.state) }

  private func ask(
    _ operation: String = "agent.secret", at milliseconds: Int64, _ decision: AuditEntry.Decision = .allowed, process: Int32 = 7,
    executable: String = "/bin/a", application: String = "t.a", group: String = "g", item: String = "",
    because reason: String = "gate", isChange: Bool = false
  ) throws {
    let caller = AuditEntry.Caller(user: 1, process: process, executable: executable, application: application)
    let entry = AuditEntry(
      at: milliseconds, decision, operation, by: caller, application: application, group: group, item: item, because: reason)
    try log.append(entry, to: decision == .refused ? .refusals : .uses, isMerged: !isChange, isSynced: false)
  }

  /// The entries of all rings, the oldest first.
  private func entries() throws -> [(ring: AuditRing, logged: LoggedEntry)] {
    var entries: [(AuditRing, LoggedEntry)] = []
    try AuditHistory(of: bench.state)?.forEachEntry { entries.append(($0, $1)) }
    return entries
  }

  private var reasons: [String] { get throws { try entries().map(\.logged.entry.reason) } }

  private func isWhole() throws -> Bool {
    try #require(try AuditHistory(of: bench.state)).verify().allSatisfy { $0.verification.problems.isEmpty }
  }

  @Test func theSameWithinASecondIsCounted() throws {
    for milliseconds: Int64 in [0, 1, 500, 999] { try ask(at: milliseconds) }
    #expect(try reasons == ["gate"])
    // The next second adds the count of repetitions, and starts again.
    try ask(at: 1000)
    #expect(try reasons == ["gate", "gate; 3 more since entry 1", "gate"])
    try ask(at: 2500)
    #expect(try reasons == ["gate", "gate; 3 more since entry 1", "gate", "gate"])
  }

  @Test func aClockThatGoesBackHidesNothing() throws {
    try ask(at: 5000)
    try ask(at: 4000)
    #expect(try reasons == ["gate", "gate"])
  }

  @Test func differentDecisionsAreSeparateEntries() throws {
    try ask(at: 0)
    try ask("agent.items", at: 0)
    try ask(at: 0, .refused)
    try ask(at: 0, process: 8)
    try ask(at: 0, executable: "/bin/b")
    try ask(at: 0, application: "t.b")
    try ask(at: 0, group: "h")
    try ask(at: 0, item: "00")
    try ask(at: 0, because: "owner")
    #expect(try entries().count == 9)
  }

  @Test func eachChangeIsAnEntry() throws {
    for _ in 0..<3 { try ask(at: 0, isChange: true) }
    #expect(try entries().count == 3)
  }

  @Test func countsAreWrittenAtTheEnd() throws {
    for _ in 0..<3 { try ask(at: 0) }
    try log.flush()
    #expect(try reasons == ["gate", "gate; 2 more since entry 1"])
    try log.flush()
    #expect(try reasons.count == 2)
  }

  /// The number of remembered requests is limited, even with ever new names, and no count is lost.
  @Test func theNumberOfMergedEntriesIsLimited() throws {
    for _ in 0..<2 { try ask(at: 0) }
    for process: Int32 in 1000..<1256 { try ask(at: 0, process: process) }
    #expect(try reasons.contains("gate; 1 more since entry 1"))
    #expect(try isWhole() && entries().count == 258)
  }

  // MARK: Refusals

  /// The program chooses the group it names, and thereby the reason.
  @Test func refusalsOfAProcessAreMergedForAllRequests() throws {
    for index in 0..<1000 {
      try ask(at: 0, .refused, group: "invented-\(index)", because: "missingEntitlement: invented-\(index)")
    }
    #expect(try entries().count == 1)
    try log.flush()
    #expect(try reasons.last == "missingEntitlement: invented-0; 999 more since entry 1")
  }

  /// Continued refusals give entries at growing intervals: fewer than a hundred in 24 hours.
  @Test func refusalsThatGoOnBecomeFewer() throws {
    for second: Int64 in 0..<86_400 { for _ in 0..<2 { try ask(at: second * 1000, .refused) } }
    let entries = try entries()
    #expect(entries.count < 100, "\(entries.count)")
    try log.flush()
    let counted = try self.entries().reduce(0) { (sum: Int, entry) in
      let words = entry.logged.entry.reason.split(separator: " ")
      return sum + (words.count == 6 ? Int(words[1]) ?? 0 : 1)
    }
    #expect(counted == 2 * 86_400)
  }

  /// Each from another process, with the longest possible names: more than all rings hold.
  @Test(.timeLimit(.minutes(60))) func refusalsDisplaceNothingButRefusals() throws {
    try ask("agent.secret", at: 0)
    let caller = AuditEntry.Caller(user: 1, process: 1, executable: "/bin/coffer")
    try log.append(
      AuditEntry(at: 0, .allowed, "agent.unlock", by: caller, because: "owner"), to: .decisions, isMerged: false, isSynced: true)
    let long = String(repeating: "\u{7F}", count: AuditEntry.maximumFieldByteCount)
    var count = 0
    repeat {
      try #require(count < 10_000)
      count += 1
      try ask(at: Int64(count), .refused, process: Int32(count), application: long, group: long, because: long)
    } while FileManager.default.fileExists(atPath: "\(bench.state)/audit/refusals/00000000000000000001.log")
    let entries = try entries()
    #expect(entries.filter { $0.ring == .decisions }.map(\.logged.entry.operation) == ["agent.unlock"])
    #expect(entries.filter { $0.ring == .uses }.map(\.logged.entry.operation) == ["agent.secret"])
    #expect(entries.count < count)
    let problems = try #require(try AuditHistory(of: bench.state)).verify().flatMap(\.verification.problems)
    #expect(problems == [], "\(entries.count) of \(count)")
  }

  // MARK: Order and crashes

  @Test func theOldestComesFirst() throws {
    try ask(at: 0)
    try ask(at: 10)
    try ask("agent.items", at: 500)
    try ask(at: 600, .refused)
    try ask(at: 610, .refused)
    try ask("agent.items", at: 700)
    // Writes the earlier counts.
    try ask(at: 1500)
    try ask(at: 2000, .refused)
    try log.flush()
    let times = try entries().map(\.logged.entry.milliseconds)
    #expect(times == times.sorted() && times.count == 8, "\(times)")
  }

  /// As after a crash: the counting process writes nothing more.
  @Test func aCountThatWasLeftIsWrittenByTheNextOne() throws {
    for _ in 0..<5 { try ask(at: 0) }
    for _ in 0..<3 { try ask(at: 0, .refused) }
    let copy = Bench()
    try FileManager.default.copyItem(atPath: bench.state, toPath: copy.state)
    let next = try DecisionLog(in: copy.state)
    func reasons() throws -> [String] {
      var reasons: [String] = []
      try AuditHistory(of: copy.state)?.forEachEntry { reasons.append($1.entry.reason) }
      return reasons
    }
    #expect(try reasons() == ["gate", "gate", "gate; 4 more since entry 1", "gate; 2 more since entry 1"])
    // Only once.
    _ = try DecisionLog(in: copy.state)
    try next.flush()
    #expect(try reasons().count == 4)
  }

  /// As after a crash between writing the count to the log and clearing the slot.
  @Test func aCountThatIsInTheLogIsNotWrittenTwice() throws {
    for _ in 0..<5 { try ask(at: 0) }
    let counts = URL(filePath: "\(bench.state)/audit/uses/counts.0")
    let before = try Data(contentsOf: counts)
    try log.flush()
    let copy = Bench()
    try FileManager.default.copyItem(atPath: bench.state, toPath: copy.state)
    try before.write(to: URL(filePath: "\(copy.state)/audit/uses/counts.0"))
    _ = try DecisionLog(in: copy.state)
    var count = 0
    try AuditHistory(of: copy.state)?.forEachEntry { _, _ in count += 1 }
    #expect(count == 2)
  }

  /// Arbitrary bytes in the file of counts.
  @Test func countsOfNothingAreNone() throws {
    try ask(at: 0)
    let copy = Bench()
    try FileManager.default.copyItem(atPath: bench.state, toPath: copy.state)
    for bytes in [Data(repeating: 0xFF, count: 5000), Data(repeating: 1, count: 7), Data()] {
      try bytes.write(to: URL(filePath: "\(copy.state)/audit/uses/counts.0"))
      _ = try DecisionLog(in: copy.state)
      #expect(try #require(try AuditHistory(of: copy.state)).verify().allSatisfy { $0.verification.problems.isEmpty })
    }
  }

  /// Two agents of one user, each with its own vault.
  @Test func eachProcessCountsForItself() throws {
    let other = try DecisionLog(in: bench.state)
    for _ in 0..<2 { try ask(at: 0) }
    try other.flush()
    #expect(try reasons == ["gate"])
    try log.flush()
    #expect(try reasons == ["gate", "gate; 1 more since entry 1"])
  }

  @Test func anEndIsComparedRingByRing() throws {
    for text in ["", "-,-", "-,-,-,-", "1:00,-,-", "x,-,-"] { #expect(AuditEnds(text) == nil, "\(text)") }
    try ask(at: 0)
    let ends = try AuditEnds(
      Dictionary(
        uniqueKeysWithValues: #require(try AuditHistory(of: bench.state)).verify().compactMap { ring, found in
          found.end.map { (ring, $0) }
        }))
    #expect(AuditEnds(ends.text) == ends && ends.chains.keys.elementsEqual([.uses]))
    try ask(at: 5000)
    #expect(try isWhole())
    try FileManager.default.removeItem(atPath: bench.state + "/audit/uses")
    _ = try DecisionLog(in: bench.state)
    let found = try #require(try AuditHistory(of: bench.state)).verify(continuing: ends)
    #expect(found.first { $0.ring == .uses }?.verification.problems == [.notContinued(1)])
  }

  @Test func anEntryThatCannotBeWrittenIsAnError() throws {
    #expect(throws: (any Error).self) { try ask(at: 0, executable: String(repeating: "x", count: 4097)) }
    // The failed entry must not count as written.
    #expect(throws: (any Error).self) { try ask(at: 0, executable: String(repeating: "x", count: 4097)) }
  }
}
