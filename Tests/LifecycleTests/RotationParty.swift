import CofferStorage
import CofferTesting
import VaultCore

@testable import CofferLifecycle

/// A person who agrees to a rotation, and what happens while the work is under way.
final class Party: RotationParty {
  var parts: [String] = []
  var askedCount = 0
  var commitCount = 0
  var agreed: () throws -> Void = {}
  var began: (String) throws -> Void = { _ in }
  var stepped: (String) throws -> Void = { _ in }
  var prepared: () throws -> Void = {}
  var beforeCommit: () throws -> Void = {}
  var afterCommit: () throws -> Void = {}
  var credential: () throws -> Credential = { try .throwAway() }

  func begin(_ part: String) throws {
    parts.append(part)
    try began(part)
  }
  func step(_ done: UInt64, of total: UInt64) throws { try stepped(parts.last ?? "") }
  func agree(to plan: RotationPlan) throws { try agreed() }
  func credentials(for slot: RotationPlan.Slot) throws -> SlotCredentials {
    askedCount += 1
    return SlotCredentials(present: nil, new: try credential())
  }
  func prepare(backup: String) throws { try prepared() }
  func excluding(_ commit: () throws -> Void) throws {
    commitCount += 1
    try beforeCommit()
    try commit()
    try afterCommit()
  }

  /// Calls `body` when the last check begins: all rows are under new keys, and nothing of before has been removed.
  func atTheEnd(_ body: @escaping () throws -> Void) {
    began = { [unowned self] part in if part == "checking", parts.contains("copying") { try body() } }
  }
}

extension Fixture {
  func deviceKeys() throws -> DeviceKeyFiles {
    Places(in: directory).deviceKeys(of: try Vault.inspect(FileStore(at: path)).id)
  }

  /// The vault with the key of this device that is in force.
  func openWithDeviceKey() throws -> Vault {
    let vault = try open()
    try deviceKeys().open(vault)
    return vault
  }

  func rotate(
    _ party: Party, at seconds: Int64 = 0, _ change: (inout RotationOrder) -> Void = { _ in }
  ) throws -> RotationOutcome {
    var order = RotationOrder()
    change(&order)
    var opened = try openWithDeviceKey()
    let outcome = try rotate(&opened, order, party, at: seconds)
    try opened.close()
    return outcome
  }

  func rotate(_ opened: inout Vault, _ order: RotationOrder, _ party: Party, at seconds: Int64 = 0) throws -> RotationOutcome {
    let rotation = Rotation(of: try FileStore(at: path), backups: backups, order, ceiling: .standard, holding: nil)
    return try rotation.carryOut(
      on: &opened, deviceKeys(), now: Timestamp(secondsSince1970: 1_700_000_000 + seconds), with: party)
  }
}
