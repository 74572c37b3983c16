import AuditLog
import Testing

/// What is asked again and again is one entry a second. Time is what the entries say.
@Suite struct DecisionLogTests {
  private let bench = Bench()
  private let log: DecisionLog

  init() throws { log = DecisionLog(try AuditLog(in: bench.state)) }

  private func ask(
    _ operation: String = "agent.secret", at milliseconds: Int64, _ decision: AuditEntry.Decision = .allowed, process: Int32 = 7,
    executable: String = "/bin/a", application: String = "t.a", group: String = "g", because reason: String = "gate",
    isChange: Bool = false
  ) throws {
    let caller = AuditEntry.Caller(user: 1, process: process, executable: executable, application: application)
    let entry = AuditEntry(
      at: milliseconds, decision, operation, by: caller, application: application, group: group, because: reason)
    try log.append(entry, isChange: isChange, isSynced: false)
  }

  private var reasons: [String] { get throws { try bench.entries().map(\.entry.reason) } }

  @Test func theSameWithinASecondIsCounted() throws {
    for milliseconds: Int64 in [0, 1, 500, 999] { try ask(at: milliseconds) }
    #expect(try reasons == ["gate"])
    // The next second says how many there were, and begins anew.
    try ask(at: 1000)
    #expect(try reasons == ["gate", "gate; 3 more within a second", "gate"])
    try ask(at: 2500)
    #expect(try reasons == ["gate", "gate; 3 more within a second", "gate", "gate"])
  }

  @Test func aClockThatGoesBackHidesNothing() throws {
    try ask(at: 5000)
    try ask(at: 4000)
    #expect(try reasons == ["gate", "gate"])
  }

  @Test func whateverDiffersIsAnEntryOfItsOwn() throws {
    try ask(at: 0)
    try ask("agent.items", at: 0)
    try ask(at: 0, .refused)
    try ask(at: 0, process: 8)
    try ask(at: 0, executable: "/bin/b")
    try ask(at: 0, application: "t.b")
    try ask(at: 0, group: "h")
    try ask(at: 0, because: "owner")
    #expect(try bench.entries().count == 8)
  }

  @Test func eachChangeIsAnEntry() throws {
    for _ in 0..<3 { try ask(at: 0, isChange: true) }
    #expect(try bench.entries().count == 3)
  }

  @Test func whatWasCountedIsWrittenInTheEnd() throws {
    for _ in 0..<3 { try ask(at: 0) }
    try log.flush()
    #expect(try reasons == ["gate", "gate; 2 more within a second"])
    try log.flush()
    #expect(try reasons.count == 2)
  }

  /// Who asks under ever new names does not make the agent remember them all, and nothing that was counted gets lost.
  @Test func whatIsRememberedHasAnEnd() throws {
    for _ in 0..<2 { try ask(at: 0) }
    for process: Int32 in 1000..<1256 { try ask(at: 0, process: process) }
    #expect(try reasons.contains("gate; 1 more within a second"))
    let verification = try bench.verify()
    #expect(verification.problems.isEmpty && verification.count == 258)
  }

  @Test func whatCannotBeLoggedIsAnError() throws {
    #expect(throws: (any Error).self) { try ask(at: 0, executable: String(repeating: "x", count: 4097)) }
    // And is not taken for something that was.
    #expect(throws: (any Error).self) { try ask(at: 0, executable: String(repeating: "x", count: 4097)) }
  }
}
