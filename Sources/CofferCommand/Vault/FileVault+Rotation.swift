import CofferConsole
import CofferLifecycle
import CofferStorage
import SecretMemory
import VaultCore

extension FileVault {
  func rotate(_ dialogue: RotationDialogue) throws -> RotationOutcome {
    let place = try options.openPlace()
    // Held to the end: another command fails before it has asked for anything.
    let lock = try about(place.path) { try MaintenanceLock(forVaultAt: place.store.path) }
    try dialogue.check(about(place.path) { try Vault.inspect(place.store).slots })
    let rotation = Rotation(
      of: place.store, backups: place.backups, dialogue.order, ceiling: options.ceiling, holding: lock)
    return try options.withCredential(for: place) { credential in
      let opened = try options.open(place, with: credential)
      let party = try FileRotation(dialogue, credential.duplicate())
      return try Self.carryOut(rotation, opened, place, party, dialogue)
    }
  }

  /// A slip in the credential of another slot is not one in this one, which is not asked for again: each error is a `Failure`.
  private static func carryOut(
    _ rotation: Rotation, _ opened: consuming Vault, _ place: VaultPlace, _ party: FileRotation, _ dialogue: RotationDialogue
  ) throws -> RotationOutcome {
    do {
      let outcome = try rotation.carryOut(
        on: &opened, place.deviceKeys(of: opened.keys.vault), now: .now(), with: party)
      party.end()
      opened.finish()
      return outcome
    } catch {
      party.end()
      let isInDoubt = StorageError(.inDoubt) ~= error
      dialogue.noteLeft(after: error, isInDoubt: isInDoubt)
      guard let damaged = error as? DamagedVault else {
        throw dialogue.failure(Failure(error, about: place.path), isInDoubt: isInDoubt)
      }
      throw Failure.unsound(damaged.verification, about: place.path, hint: "coffer vault repair, then rotate")
    }
  }
}

/// The terminal and the options as the other party of a rotation in this process.
private struct FileRotation: RotationParty {
  private let dialogue: RotationDialogue
  private let opened: OpeningCredential
  private let work: LongWork

  init(_ dialogue: RotationDialogue, _ opened: consuming Credential) throws {
    self.dialogue = dialogue
    self.opened = OpeningCredential(opened)
    work = try LongWork("checking")
  }

  func begin(_ part: String) throws {
    dialogue.begin()
    try work.begin(part)
  }

  func step(_ done: UInt64, of total: UInt64) throws { try dialogue.stepping { try work.step(done, of: total) } }

  func agree(to plan: RotationPlan) throws {
    try work.pause()
    try dialogue.agree(to: plan)
  }

  func credentials(for slot: RotationPlan.Slot) throws -> SlotCredentials {
    try dialogue.credentials(for: slot, opened.credential)
  }

  func prepare(backup: String) throws { try dialogue.prepare(backup: backup, during: work) }

  /// Each program waits for the lock of the file.
  func excluding(_ commit: () throws -> Void) throws {
    try work.check()
    try commit()
  }

  func end() { work.end() }
}

/// The credential that opened the vault, for as long as work on it goes on.
final class OpeningCredential {
  let credential: Credential

  init(_ credential: consuming Credential) { self.credential = credential }
}
