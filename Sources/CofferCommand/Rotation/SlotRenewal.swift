import CofferConsole
import CofferLifecycle
import Passphrases
import SecretMemory
import VaultCore

/// The credentials under which a new master key is sealed: those of the slots that there are, asked for one by one.
final class SlotRenewal {
  /// How often a person may type one.
  private static let attempts = 3

  private let options: RotationOptions
  private let passphrases: [Int: Descriptor]
  private let keyFiles: [Int: Descriptor]
  private var contents: [Int: KeyFileContent] = [:]
  private let isInputAllowed: Bool
  private var asked: [Int: Int] = [:]
  /// Those that were made. They open nothing before the commit.
  private(set) var recoveryKeys: [NewRecoveryKey] = []

  /// Opens the files and checks the descriptors that the options name.
  init(_ options: RotationOptions, isInputAllowed: Bool) throws {
    self.options = options
    self.isInputAllowed = isInputAllowed
    passphrases = try options.given(options.slotPassphrases, "--slot-passphrase-fd").mapValues { text in
      guard let number = Int32(text) else { throw Failure.usage("--slot-passphrase-fd \(text): is not a descriptor") }
      return try .given(number, by: "--slot-passphrase-fd")
    }
    keyFiles = try options.given(options.slotKeyFiles, "--slot-key-file").mapValues { try .openKeyFile($0) }
  }

  /// Checks the options, before anything is asked.
  /// - Throws: usage for a slot that is not there, and for a new recovery key of none.
  func check(_ slots: [SlotDescription]) throws {
    for slot in options.dropSlot + Array(passphrases.keys) + Array(keyFiles.keys)
    where !slots.contains(where: { $0.index == slot }) {
      throw Failure.usage("slot \(slot): the vault has none", hint: "coffer vault slot list shows the slots")
    }
    guard options.newRecoveryKey else { return }
    let recoveryKeys = slots.filter { $0.type == .recoveryKey }
    guard !recoveryKeys.isEmpty else {
      throw Failure.usage("--new-recovery-key: the vault has none", hint: "coffer vault slot add --new-recovery-key")
    }
    guard !recoveryKeys.allSatisfy({ options.dropSlot.contains($0.index) }) else {
      throw Failure.usage(
        "--new-recovery-key: --drop-slot leaves none that could be made anew",
        hint: "the new key takes the place of the old one: leave out --drop-slot")
    }
  }

  /// - Throws: locked, with the list of the slots whose credential cannot be had.
  func checkObtainable(_ slots: [RotationPlan.Slot]) throws {
    let missing = slots.filter { !$0.isOpened && !isObtainable($0.description) }
    guard missing.isEmpty else {
      throw Failure(
        .locked, "\(counted(missing.count, "slot")) without a credential; nothing has been changed",
        hint: "--slot-passphrase-fd, --slot-key-file or --new-recovery-key, or give the slot up: --drop-slot N",
        details: missing.map { "slot \($0.description.index): \($0.description.text)" })
    }
  }

  private func isObtainable(_ slot: SlotDescription) -> Bool {
    switch slot.type {
    case .passphrase: passphrases[slot.index] != nil || isInputAllowed
    case .keyFile: keyFiles[slot.index] != nil
    case .passphraseAndKeyFile: keyFiles[slot.index] != nil && (passphrases[slot.index] != nil || isInputAllowed)
    case .recoveryKey: options.newRecoveryKey || isInputAllowed
    case .external: false
    }
  }

  /// A recovery key that is made now, or the credential of a slot that did not open the vault.
  /// - Throws: wrong passphrase if it was given before, and there is no person to type another one; what reading throws.
  func credentials(for slot: RotationPlan.Slot) throws -> SlotCredentials {
    let (slot, isNew) = (slot.description, slot.isNewRecoveryKey)
    guard !isNew else {
      let key = try NewRecoveryKey()
      recoveryKeys.append(key)
      return SlotCredentials(present: nil, new: try .recoveryKey(try key.text.duplicate()))
    }
    let before = asked.updateValue((asked[slot.index] ?? 0) + 1, forKey: slot.index) ?? 0
    if before > 0 {
      guard before < Self.attempts, passphrases[slot.index] == nil, slot.type.hasPassphrase else {
        throw Failure(.wrongPassphrase, "slot \(slot.index): another credential than that of this slot")
      }
      Descriptor.error.note("Wrong. Try again.\n")
    }
    let present = try credential(slot)
    return SlotCredentials(present: try present.duplicate(), new: present)
  }

  private func credential(_ slot: SlotDescription) throws -> Credential {
    guard let file = keyFiles[slot.index], slot.type != .passphrase else { return try .passphrase(passphrase(slot)) }
    let content = try contents[slot.index] ?? KeyFileContent(file)
    contents[slot.index] = content
    guard slot.type.hasPassphrase else { return try .keyFile(content.bytes.duplicate()) }
    return try .passphrase(passphrase(slot), andKeyFile: content.bytes.duplicate())
  }

  private func passphrase(_ slot: SlotDescription) throws -> Secret {
    if let descriptor = passphrases[slot.index] { return try .readingLine(descriptor) }
    return try Person.ask("Passphrase of slot \(slot.index): ", isAllowed: isInputAllowed)
  }
}

/// The content of a key file, read once: a passphrase that goes with it may be typed again.
private final class KeyFileContent {
  let bytes: Secret

  init(_ file: Descriptor) throws { bytes = try .readingFile(file) }
}
