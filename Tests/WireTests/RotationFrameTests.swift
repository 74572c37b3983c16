import CofferLifecycle
import CofferRequests
import CofferStorage
import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import CofferWire

/// The request, plan, slots and outcome of a rotation.
@Suite struct RotationFrameTests {
  private func proof() throws -> Credential {
    try .derived(Secret(testing: String(repeating: "p", count: 32)), .passphrase, salt: [UInt8](repeating: 3, count: 16))
  }

  private func sent(_ order: RotationOrder) throws -> RotationOrder? {
    let frame = try Request.upkeep(.rotate(order, by: proof())).frame(request: 1)
    guard case .upkeep(.rotate(let order, by: _)) = try Received(frame).request() else { return nil }
    return order
  }

  @Test func anOrderArrives() throws {
    #expect(try sent(RotationOrder()) == RotationOrder())
    let flags: [WritableKeyPath<RotationOrder, Bool>] = [
      \.isMasterOnly, \.renewsDevice, \.renewsRecoveryKey, \.leavesDeviceItems, \.isLeaked, \.keepsBackup, \.prunesBackups,
    ]
    for flag in flags {
      var order = RotationOrder()
      order[keyPath: flag] = true
      #expect(try sent(order) == order)
    }
    var order = RotationOrder()
    (order.groups, order.droppedSlots, order.kdf) = ([try AccessGroup("team"), .standard], [2, 8], .lowMemory)
    #expect(try sent(order) == order)
    order.groups = []
    #expect(try sent(order) == order)
  }

  @Test func anOrderHasNothingElse() throws {
    #expect(throws: WireError.self) { _ = try Request.parse(.rotate, Message()) }
    for (name, value) in [("groups", AttributeValue.integer(.max)), ("leaked", .integer(2)), ("another", .integer(1))] {
      var row = RotationOrder().wireRow
      row[name] = value
      #expect(throws: WireError(.field), "\(name)") {
        var fields = Fields(row)
        _ = try RotationOrder(&fields)
        try fields.end()
      }
    }
    var row = RotationOrder().wireRow
    row["dropped"] = nil
    #expect(throws: WireError(.field)) {
      var fields = Fields(row)
      _ = try RotationOrder(&fields)
    }
  }

  private func slot(_ index: Int, opened: Bool) throws -> RotationPlan.Slot {
    let id = try #require(Identifier([UInt8](repeating: UInt8(index), count: 16)))
    return RotationPlan.Slot(
      SlotDescription(index: index, id: id, type: .passphrase, kdf: .lowMemory, salt: [UInt8](repeating: 9, count: 16)),
      kdf: .standard, isOpened: opened, isNewRecoveryKey: !opened)
  }

  @Test func aPlanArrives() throws {
    for plan in [
      RotationPlan(slots: [], groups: []), RotationPlan(slots: [], groups: [.standard]),
      RotationPlan(
        slots: [try slot(1, opened: true), try slot(3, opened: false)], groups: [.standard, try AccessGroup("team")]),
    ] {
      let rows = plan.wireRows
      #expect(try RotationPlan(wireRows: rows) == plan)
      guard !rows.dropFirst().isEmpty else { continue }
      #expect(throws: (any Error).self) { _ = try RotationPlan(wireRows: Array(rows.dropLast())) }
      #expect(throws: (any Error).self) { _ = try RotationPlan(wireRows: Array(rows.dropFirst())) }
    }
    var count = Attributes()
    count["groups"] = .integer(.max)
    #expect(throws: WireError(.field)) { _ = try RotationPlan(wireRows: [count]) }
    #expect(throws: WireError(.malformed)) { _ = try RotationPlan(wireRows: []) }
    #expect(throws: WireError(.malformed)) { _ = try RotationPlan.Slot(wireRows: []) }
  }

  @Test func anOutcomeArrives() throws {
    let outcome = RotationOutcome(
      generation: 7, masterEpoch: 2, slotCount: 3, groupCount: 1, restsReason: .full, removed: ["/a"], left: ["/b", "/c"])
    #expect(try RotationOutcome(wireRows: outcome.wireRows) == outcome)
    let withKey = RotationOutcome(
      generation: 7, masterEpoch: 2, slotCount: 3, groupCount: 1, restsReason: nil, removed: [], left: [], deviceKey: "/d",
      sharedDeviceKey: "/s")
    #expect(try RotationOutcome(wireRows: withKey.wireRows) == withKey)
    #expect(throws: WireError(.field)) { _ = try RotationOutcome(wireRows: Array(outcome.wireRows.prefix(1))) }
    var rows = outcome.wireRows
    rows[0]["rests-reason"] = .text("none-of-these")
    #expect(throws: WireError(.field)) { _ = try RotationOutcome(wireRows: rows) }
    #expect(throws: WireError(.malformed)) { _ = try RotationOutcome(wireRows: []) }
  }

  @Test func theBackupIsNamed() throws {
    #expect(try UpkeepQuestion.backup(in: UpkeepQuestion.prepared(backup: "/b").rows) == "/b")
    #expect(throws: WireError(.malformed)) { _ = try UpkeepQuestion.backup(in: []) }
  }
}
