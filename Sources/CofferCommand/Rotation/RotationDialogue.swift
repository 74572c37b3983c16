import CofferConsole
import CofferLifecycle
import CofferStorage
import Explanations
import SecretMemory
import VaultCore

/// The part of the person in a rotation, for a vault in a file and for that of the system's agent.
final class RotationDialogue {
  private enum Phase { case planned, prepared, committed }

  let order: RotationOrder
  private let options: RotationOptions
  private let vault: VaultOptions
  private let slots: SlotRenewal
  /// The new credential in the place of the one that opened the vault; nil: that one stays.
  private let replaced: ((SlotDescription) throws -> Credential)?
  private var phase = Phase.planned
  private var backup: String?

  init(
    _ order: RotationOrder, _ options: RotationOptions, _ vault: VaultOptions,
    replacing replaced: ((SlotDescription) throws -> Credential)? = nil
  ) throws {
    (self.order, self.options, self.vault, self.replaced) = (order, options, vault, replaced)
    slots = try SlotRenewal(options, isInputAllowed: vault.isAnybodyThere)
  }

  /// Before anything is asked.
  /// - Throws: usage.
  func check(_ slots: [SlotDescription]) throws { try self.slots.check(slots) }

  /// - Throws: `cancelled`; locked if there is no person to ask; usage.
  func agree(to plan: RotationPlan) throws {
    if order.isLeaked, plan.slots.first(where: \.isOpened)?.description.type.hasPassphrase != true {
      throw Failure.usage(
        "--leaked: the vault was opened without the passphrase",
        hint: "open it with the leaked passphrase; without it: coffer vault rotate --drop-slot SLOT, its number")
    }
    try slots.checkObtainable(plan.slots)
    guard !options.force else { return }
    let parts =
      (order.renewsMaster ? ["the master key"] : []) + (order.renewsDevice ? ["this device"] : [])
      + (plan.groups.isEmpty ? [] : [counted(plan.groups.count, "group")])
    let pruning = order.prunesBackups ? ", and remove the backups of before" : ""
    try Question.agree(
      "Make new keys for \(parts.joined(separator: " and "))\(pruning)?", about: "new keys", vault, hint: "--force")
  }

  /// - Parameter opened: The credential that opened the vault.
  func credentials(for slot: RotationPlan.Slot, _ opened: borrowing Credential) throws -> SlotCredentials {
    let given =
      slot.isOpened && !slot.isNewRecoveryKey
      ? SlotCredentials(present: nil, new: try replaced?(slot.description) ?? opened.duplicate())
      : try slots.credentials(for: slot)
    if order.isLeaked { try checkIsNew(given.new, in: slot, leaked: opened) }
    return given
  }

  /// The texts are compared in normal form, as keys are derived from them: the leaked passphrase would open the new keys.
  /// - Throws: usage.
  private func checkIsNew(
    _ new: borrowing Credential, in slot: RotationPlan.Slot, leaked: borrowing Credential
  ) throws {
    guard new.slotType.hasPassphrase, new.text.isEqual(to: leaked.text) else { return }
    let index = slot.description.index
    throw slot.isOpened
      ? Failure.usage("--leaked: the new passphrase is the leaked one; nothing has been changed", hint: "take another one")
      : Failure.usage(
        "slot \(index): its passphrase is the leaked one; nothing has been changed",
        hint: "change it first, coffer vault passphrase, or give the slot up: --drop-slot \(index)")
  }

  /// - Parameter work: Holds signals back from here on.
  func prepare(backup: String, during work: LongWork) throws {
    self.backup = backup
    phase = .prepared
    for key in slots.recoveryKeys { try key.deliver(isInputAllowed: !vault.noInput, during: work) }
    try work.check()
  }

  /// A part of the work begins.
  func begin() { if phase == .prepared { phase = .committed } }

  /// Runs a step of the work, which throws after a signal.
  func stepping(_ step: () throws -> Void) throws {
    do { try step() } catch {
      guard phase != .planned, Failure(error).status == .cancelled else { throw error }
      throw Failure(
        .cancelled, "interrupted: new keys that were made stay", hint: "coffer vault rotate goes on with the rest")
    }
  }

  /// An error of the work, with words that are true after what was done by then.
  /// - Parameter isInDoubt: Whether the commit of the master key may have been made.
  func failure(_ failure: Failure, isInDoubt: Bool) -> Failure {
    let hint: String
    switch phase {
    case .committed where failure.status != .cancelled:
      hint = "new keys that were made stay, and open the vault; coffer vault rotate goes on with the rest"
    case .prepared where isInDoubt:
      hint = "the new keys may count already: try the new credential, and then the one of before"
    // The agent makes the commit after the last question.
    case .planned where isInDoubt: return SystemVault.agentEnded
    default: return failure
    }
    return Failure(failure.status, failure.message, hint: hint, details: failure.details)
  }

  /// After an error: what it leaves to be done.
  func noteLeft(after error: any Error, isInDoubt: Bool) {
    if phase == .prepared { NewRecoveryKey.notePrinted(slots.recoveryKeys, after: error) }
    // As long as nothing has been changed, the backup is removed.
    guard let backup, order.removesBackup, phase == .committed || phase == .prepared && isInDoubt else { return }
    Descriptor.error.note(
      "note: \(backup.escapingControls()): opens with the credentials of before; the next rotation that is finished removes it\n")
  }

  /// Standard output has the recovery keys alone, because a file with one opens the vault.
  func report(_ outcome: RotationOutcome) throws {
    let text =
      "generation \(outcome.generation), master key \(outcome.masterEpoch): \(counted(outcome.slotCount, "slot")), "
      + "\(counted(outcome.groupCount, "group")) with new keys\n"
    if slots.recoveryKeys.isEmpty { try Descriptor.output.write(text) } else { Descriptor.error.note(text) }
    if let reason = outcome.restsReason {
      let why = reason == .busy ? "another program is using the vault" : StorageError(reason).explanation.message
      Descriptor.error.note(
        "note: bytes of rows under old keys may be left in the file or its log, which could not be written anew (\(why)); "
          + "another coffer vault rotate does so\n")
    }
    if let path = outcome.deviceKey {
      Descriptor.error.note(
        "note: \(path.escapingControls()): the new key of this device, without which items of this device only are lost\n")
    }
    if let path = outcome.sharedDeviceKey {
      Descriptor.error.note("note: \(path.escapingControls()): the key of before stays, because other vaults may use it\n")
    }
    note("backups that opened with the credentials and keys of before were removed", outcome.removed)
    note("backups open with the credentials and keys of their time", outcome.left)
    Descriptor.error.note("note: no backup has the new keys yet: coffer vault backup\n")
    Descriptor.error.note("note: a value that others may have read is to be changed where it is used\n")
  }

  private func note(_ subject: String, _ paths: [String]) {
    guard !paths.isEmpty else { return }
    Descriptor.error.note("note: \(subject):\n")
    for path in paths { Descriptor.error.note("  \(path.escapingControls())\n") }
  }
}
