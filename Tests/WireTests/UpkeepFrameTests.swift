import CofferRequests
import CofferTesting
import SecretMemory
import Testing
import VaultCore
import VaultUpkeep

@testable import CofferWire

/// Requests for work on the whole vault, and what passes between them and their answers.
@Suite struct UpkeepFrameTests {
  private func proof() throws -> Credential {
    try .derived(Secret(testing: String(repeating: "p", count: 32)), .passphrase, salt: [UInt8](repeating: 3, count: 16))
  }

  @Test func limitsArriveAsTheyWereSet() throws {
    let limits: [Limits.Name: UInt64] = [.historyVersions: 3, .kdfMemory: 65_536]
    guard
      case .upkeep(.setPolicy(let arrived, let by)) = try Received(
        Request.upkeep(.setPolicy(limits, by: proof())).frame(request: 1)
      )
      .request()
    else {
      Issue.record("another request")
      return
    }
    #expect(arrived == limits && by.salt == [UInt8](repeating: 3, count: 16))
    #expect(Request.upkeep(.setPolicy(limits, by: try proof())).note == "history-versions=3 kdf-memory=65536")
  }

  @Test func aRequestHasOneCredential() throws {
    for kind in [Request.Kind.policy, .setPolicy, .verify, .acceptRollback] {
      var fields = Attributes()
      fields.set(try proof(), "by")
      for count in [0, 31, 33, 64] {
        #expect(throws: WireError.self) {
          _ = try Request.parse(kind, Message(fields: fields, secret: count == 0 ? nil : .random(count: count)))
        }
      }
      fields["another"] = .integer(1)
      #expect(throws: WireError(.field)) { _ = try Request.parse(kind, Message(fields: fields, secret: .random(count: 32))) }
    }
  }

  @Test func aBackupArrivesWithAndWithoutACredential() throws {
    for (isHandedOn, isVerified, hasProof) in [(true, false, true), (false, true, true), (false, false, false)] {
      let request = Request.upkeep(
        .backup(isHandedOn: isHandedOn, isVerified: isVerified, by: hasProof ? try proof() : nil))
      guard case .upkeep(.backup(let handedOn, let verified, let by)) = try Received(request.frame(request: 1)).request() else {
        Issue.record("another request")
        continue
      }
      let salt: [UInt8]? = if let by { by.salt } else { nil }
      #expect(handedOn == isHandedOn && verified == isVerified && (salt != nil) == hasProof)
    }
    let store = MemoryStore()
    _ = try Vault.create(in: store, with: .keyFile(Secret(count: 32)), at: .test)
    let report = VaultBackupReport(try Vault.inspect(store), at: "/b", wasVerified: true, removed: ["/a", "/c"])
    #expect(try VaultBackupReport(wireRows: report.wireRows) == report)
    let unsound = UnsoundVault(
      try VaultCheck(wireRows: VaultCheck(Vault.open(store, with: .keyFile(Secret(count: 32))).verify()).wireRows))
    #expect(try UnsoundVault(wireRows: unsound.wireRows)?.check == unsound.check)
    #expect(try UnsoundVault(wireRows: report.wireRows) == nil)
  }

  @Test func progressAndQuestionsArrive() throws {
    let progress = UpkeepProgress("checking", 3, of: 7)
    #expect(try UpkeepProgress(Received(progress.frame(request: 1)).message) == progress)
    var row = Attributes()
    row["text"] = .text("a")
    let question = UpkeepQuestion(.agreement, [row, Attributes()])
    #expect(try UpkeepQuestion(Received(question.frame(request: 1)).message) == question)
    for kind: UInt64 in [0, 7, 256] {
      var fields = Attributes()
      fields["kind"] = .integer(kind)
      #expect(throws: WireError(.field)) { _ = try UpkeepQuestion(Message(fields: fields)) }
    }
    #expect(throws: WireError.self) { _ = try UpkeepProgress(Message()) }
  }

  @Test func checksArrive() throws {
    var all = Attributes()
    (all["records"], all["unavailable"], all["problems"]) = (.integer(9), .integer(1), .integer(5000))
    let rollback = VaultCheck.Rollback(VaultError(.rolledBack, "d"), present: 4, seen: 6, wasSeenHere: true)
    all.set(rollback)
    let problem = VaultError(.recordForged, "00ff")
    let rows = [all, problem.wireRow]
    let check = try VaultCheck(wireRows: rows)
    #expect(check.rollback == rollback && check.problems == [problem] && check.problemCount == 5000 && !check.isSound)
    #expect(check.problems[0].detail == "00ff" && check.rollback?.reason.detail == "d")
    #expect(check.wireRows == rows)
    // More problems than are counted, none of those that are counted, or more than an agent sends.
    all["problems"] = .integer(0)
    #expect(throws: WireError(.field)) { _ = try VaultCheck(wireRows: [all, problem.wireRow]) }
    all["problems"] = .integer(2)
    #expect(throws: WireError(.field)) { _ = try VaultCheck(wireRows: [all]) }
    all["problems"] = .integer(5000)
    let many = [all] + [Attributes](repeating: problem.wireRow, count: Verification.maximumProblemCount + 1)
    #expect(throws: WireError(.malformed)) { _ = try VaultCheck(wireRows: many) }
  }

  @Test func policiesArrive() throws {
    var limits = Limits()
    try limits.set(.idleMinutes, to: 0)
    let report = VaultPolicyReport(limits, wasDamaged: true)
    #expect(try VaultPolicyReport(wireRows: report.wireRows) == report)
    var row = report.wireRows[0]
    row["history-versions"] = .integer(65)
    #expect(throws: WireError(.field)) { _ = try VaultPolicyReport(wireRows: [row]) }
    #expect(throws: WireError(.malformed)) { _ = try VaultPolicyReport(wireRows: []) }
  }
}
