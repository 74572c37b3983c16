import CofferLifecycle
import CofferRequests
import CofferStorage
import CofferTesting
import SecretMemory
import Testing
import VaultCore
import VaultUpkeep

@testable import CofferWire

/// The requests, plans and outcomes of a restore and a repair.
@Suite struct RestoreFrameTests {
  private func proof() throws -> Credential {
    try .derived(Secret(testing: String(repeating: "p", count: 32)), .passphrase, salt: [UInt8](repeating: 3, count: 16))
  }

  @Test(arguments: [true, false], [true, false]) func aRestoreArrivesWithAndWithoutACredential(first: Bool, second: Bool) throws {
    for hasProof in [true, false] {
      let frame = try Request.upkeep(.restore(hasFile: first, isTrial: second, by: hasProof ? proof() : nil)).frame(request: 1)
      guard case .upkeep(.restore(let hasFile, let isTrial, let by)) = try Received(frame).request() else {
        Issue.record("another request")
        continue
      }
      let isGiven = by != nil
      #expect(hasFile == first && isTrial == second && isGiven == hasProof)
    }
    let repair = UpkeepRequest.repair(hasFile: first, acceptsUnproven: second, isTrial: !first, by: try proof())
    guard
      case .upkeep(.repair(let hasFile, let acceptsUnproven, let isTrial, by: _)) =
        try Received(Request.upkeep(repair).frame(request: 1)).request()
    else {
      Issue.record("another request")
      return
    }
    #expect(hasFile == first && acceptsUnproven == second && isTrial == !first)
  }

  private func check() throws -> VaultCheck {
    var counts = Attributes()
    for (name, count) in [("records", UInt64(3)), ("unavailable", 1), ("problems", 0)] { counts[name] = .integer(count) }
    return try VaultCheck(wireRows: [counts])
  }

  @Test func aRepairTakesACredential() throws {
    #expect(throws: WireError.self) { _ = try Request.parse(.repair, Message()) }
    var fields = Attributes()
    fields["another"] = .integer(1)
    #expect(throws: WireError(.field)) { _ = try Request.parse(.restoreVault, Message(fields: fields)) }
  }

  @Test func findingsArrive() throws {
    var comparison = Comparison()
    (comparison.onlyHere, comparison.onlyThere, comparison.newerHere, comparison.differing) = (1, 2, 3, 4)
    comparison.otherRecordsDiffer = true
    var plans = [
      Restoration.Plan(way: .creating, isOtherVault: false),
      Restoration.Plan(
        way: .continuing, generation: 7, comparison: comparison, rollback: .rolledBack, isOtherVault: false, problemCount: 8),
      Restoration.Plan(way: .exchanging, isOtherVault: true, damage: StorageError(.truncated, "cut")),
    ]
    plans[1].limits = [.init(.historyVersions, here: 5, there: 3), .init(.kdfMemory, here: 65_536, there: 262_144)]
    for plan in plans {
      let check = try check()
      let findings = RestoreFindings(plan, of: plan.isOtherVault ? "/file" : nil, generation: 5, check)
      let arrived = try RestoreFindings(wireRow: findings.wireRow)
      #expect(arrived == findings && arrived.plan.damage?.detail == plan.damage?.detail)
      for name in ["generation", "records", "unavailable", "way", "problems"] {
        var row = findings.wireRow
        row[name] = nil
        #expect(throws: WireError(.field)) { _ = try RestoreFindings(wireRow: row) }
      }
      for change in plan.limits {
        var row = findings.wireRow
        row["\(change.name.rawValue)-there"] = nil
        #expect(throws: WireError(.field)) { _ = try RestoreFindings(wireRow: row) }
      }
      var row = findings.wireRow
      row["way"] = AttributeValue.text("sideways")
      #expect(throws: WireError(.field)) { _ = try RestoreFindings(wireRow: row) }
    }
    for kept in [nil, "/kept"] {
      let outcome = Restoration.Outcome(way: .replacing, generation: 9, kept: kept, anchorFailure: kept)
      #expect(try Restoration.Outcome(wireRow: outcome.wireRow) == outcome)
      let findings = try RestoreFindings(plans[0], of: nil, generation: 5, check())
      #expect(try RestoreAnswer(wireRows: [findings.wireRow, outcome.wireRow]).outcome == outcome)
      #expect(try RestoreAnswer(wireRows: [findings.wireRow]).outcome == nil)
      #expect(throws: WireError.self) { _ = try RestoreAnswer(wireRows: [findings.wireRow, outcome.wireRow, Attributes()]) }
    }
    #expect(throws: WireError.self) { _ = try RestoreAnswer(wireRows: []) }
  }

  /// More records than one frame takes, with the longest names.
  @Test func aPlanArrivesInPages() throws {
    let records = try (0..<700).map { number in
      let id = try #require(
        Identifier([UInt8](repeating: 0, count: 12) + (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }))
      var record = RepairedRecord(id: id, outcome: .lost, reason: number % 2 == 0 ? .recordForged : nil)
      (record.kind, record.group, record.generation) = (.item, .standard, UInt64(number))
      record.replaced = number % 5 == 0 ? 7 : nil
      record.item = Item(service: String(repeating: "s", count: 1000), account: number % 3 == 0 ? "" : "\(number)")
      if number == 0 { (record.kind, record.group, record.generation, record.item) = (nil, nil, nil, nil) }
      return record
    }
    var plan = RepairPlan()
    (plan.records, plan.keptCount, plan.nodeCount) = (records, 5, 2)
    (plan.isMiscounted, plan.historyFaultCount, plan.makesStandardGroup, plan.namelessCount) = (true, 3, true, 4)
    let questions = UpkeepQuestion.shown(plan.records.map(\.wireRow))
    #expect(questions.count > 2)
    var rows: [Attributes] = []
    for question in questions {
      let arrived = try UpkeepQuestion(Received(question.frame(request: 1)).message)
      #expect(arrived.kind == .shown)
      rows += arrived.rows
    }
    let arrived = try RepairPlan(wireRow: plan.wireRow, rows)
    #expect(arrived.records.map(\.item?.attributes["service"]) == plan.records.map(\.item?.attributes["service"]))
    #expect(arrived.records.map(\.id) == plan.records.map(\.id) && arrived.records.map(\.reason) == plan.records.map(\.reason))
    #expect(arrived.records.map(\.replaced) == plan.records.map(\.replaced) && arrived.makesStandardGroup)
    #expect(arrived.namelessCount == 4)
    #expect(arrived.keptCount == 5 && arrived.nodeCount == 2 && arrived.isMiscounted && arrived.historyFaultCount == 3)
    #expect(throws: WireError(.field)) { _ = try RepairPlan(wireRow: plan.wireRow, Array(rows.dropLast())) }
    #expect(UpkeepQuestion.shown([]).isEmpty)
  }
}
