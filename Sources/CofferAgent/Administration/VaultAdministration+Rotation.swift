import CofferLifecycle
import CofferRequests
import CofferStorage
import CofferWire
import SecretMemory
import VaultCore

extension VaultAdministration {
  /// Other connections use the vault meanwhile. They are refused during the commit of the master key, and meet it as the change of another
  /// process: the vault is locked afterwards.
  /// - Throws: as `owned`, `Rotation.carryOut`.
  func rotate(
    _ order: RotationOrder, by proof: borrowing Credential, _ session: UpkeepSession, _ allowed: () throws -> Void
  ) throws -> RotationOutcome {
    var opened = try owned(by: proof)
    try allowed()
    let store = try FileStore(at: places.vault)
    let rotation = Rotation(of: store, backups: backups, order, ceiling: .ofThisMachine, holding: nil)
    let outcome = try rotation.carryOut(
      on: &opened, places.deviceKeys(of: opened.keys.vault), now: Self.now,
      with: RotationSession(session: session, vault: vault))
    try opened.close()
    return outcome
  }
}

/// The client of a connection as the other party of a rotation.
private struct RotationSession: RotationParty {
  let session: UpkeepSession
  let vault: AgentVault

  /// The client is told at once: an error after the commit of the master key is not one before it.
  func begin(_ part: String) throws {
    try session.begin(part)
    try session.step(0, of: 1)
  }

  func step(_ done: UInt64, of total: UInt64) throws { try session.step(done, of: total) }

  func agree(to plan: RotationPlan) throws { try ask(UpkeepQuestion(.agreement, plan.wireRows)) }

  func credentials(for slot: RotationPlan.Slot) throws -> SlotCredentials {
    guard case .credentials(let present, let new) = try session.reply(to: UpkeepQuestion(.credential, slot.wireRows)) else {
      throw WireError(.malformed, "no credential")
    }
    return SlotCredentials(present: present, new: new)
  }

  func prepare(backup: String) throws { try ask(.prepared(backup: backup)) }

  func excluding(_ commit: () throws -> Void) throws { try vault.withoutClients(closing: false, commit) }

  private func ask(_ question: UpkeepQuestion) throws {
    guard try session.isAgreed(question) else { throw VaultAdministration.declined }
  }
}
