import CofferConsole
import CofferStorage
import Passphrases
import SecretMemory
import VaultCore
import VaultUpkeep

/// The credentials under which a new master key is sealed: those of the slots that there are, asked for one by one.
struct SlotRenewal {
  private let options: RotationOptions
  private let passphrases: [Int: Descriptor]
  private let keyFiles: [Int: Descriptor]
  private let isInputAllowed: Bool
  /// Those that `seal` has made. They open nothing before the commit.
  private(set) var recoveryKeys: [NewRecoveryKey] = []

  /// Opens the files and checks the descriptors that the options name.
  init(_ options: RotationOptions, isInputAllowed: Bool) throws {
    self.options = options
    self.isInputAllowed = isInputAllowed && Descriptor.input.isTerminal
    passphrases = try options.given(options.slotPassphrases, "--slot-passphrase-fd").mapValues { text in
      guard let number = Int32(text) else { throw Failure.usage("--slot-passphrase-fd \(text): is not a descriptor") }
      return try .given(number, by: "--slot-passphrase-fd")
    }
    keyFiles = try options.given(options.slotKeyFiles, "--slot-key-file").mapValues { try .openKeyFile($0) }
  }

  /// The slots that stay, before anything is asked.
  /// - Throws: usage for a slot that is not there; locked, with the list of the slots whose credential cannot be had.
  func kept(of slots: [SlotDescription], opened: SlotDescription) throws -> [SlotDescription] {
    for slot in options.dropSlot + Array(passphrases.keys) + Array(keyFiles.keys)
    where !slots.contains(where: { $0.index == slot }) {
      throw Failure.usage("slot \(slot): the vault has none", hint: "coffer vault slot list shows the slots")
    }
    guard !options.dropSlot.contains(opened.index) else {
      throw Failure.usage("--drop-slot \(opened.index): opened the vault", hint: "open it in another way, or leave the slot")
    }
    guard !options.newRecoveryKey || slots.contains(where: { $0.type == .recoveryKey }) else {
      throw Failure.usage("--new-recovery-key: the vault has none", hint: "coffer vault slot add --new-recovery-key")
    }
    let kept = slots.filter { !options.dropSlot.contains($0.index) }
    let missing = kept.filter { $0.id != opened.id && !isObtainable($0) }
    guard missing.isEmpty else {
      throw Failure(
        .locked, "\(counted(missing.count, "slot")) without a credential; nothing has been changed",
        hint: "--slot-passphrase-fd, --slot-key-file or --new-recovery-key, or give the slot up: --drop-slot N",
        details: missing.map { "slot \($0.index): \($0.text)" })
    }
    return kept
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

  /// The cost of each slot that has a passphrase: its own, or the vault's policy if that is higher. Known before anything is asked.
  /// - Parameter new: The cost of the slot that opened the vault; nil: its own.
  /// - Throws: `kdfAboveCeiling`, with the slot.
  func costs(
    of kept: [SlotDescription], _ opened: SlotDescription, _ new: KDFParameters?, _ limits: Limits, _ ceiling: KDFCeiling
  ) throws -> [Int: KDFParameters] {
    var costs: [Int: KDFParameters] = [:]
    for slot in kept {
      guard let kdf = slot.kdf else { continue }
      costs[slot.index] = try about("slot \(slot.index)") {
        try limits.cost(slot.id == opened.id ? new ?? kdf : kdf, ceiling: ceiling)
      }
    }
    return costs
  }

  /// Seals the new master key under the credential of a slot that did not open the vault.
  /// - Throws: wrong passphrase; what reading throws.
  mutating func seal(
    _ slot: SlotDescription, _ kdf: KDFParameters, in store: FileStore, _ ceiling: KDFCeiling, _ renewal: inout MasterKeyRenewal
  ) throws {
    guard slot.type != .recoveryKey else {
      let key = try NewRecoveryKey()
      recoveryKeys.append(key)
      return try renewal.seal(slot, under: try .recoveryKey(try key.text.duplicate()), kdf: kdf)
    }
    let file = try keyFiles[slot.index].map { try Secret.readingFile($0) }
    for attempt in 1... {
      let credential = try credential(slot, file)
      if try MasterKeyRenewal.opens(slot, of: store, with: credential, ceiling) {
        return try renewal.seal(slot, under: credential, kdf: kdf)
      }
      guard attempt < 3, passphrases[slot.index] == nil, slot.type.hasPassphrase else { break }
      Descriptor.error.note("Wrong. Try again.\n")
    }
    throw Failure(.wrongPassphrase, "slot \(slot.index): another credential than that of this slot")
  }

  private func credential(_ slot: SlotDescription, _ file: borrowing Secret?) throws -> Credential {
    switch file {
    case .some(let file):
      guard slot.type.hasPassphrase else { return try .keyFile(file.duplicate()) }
      return try .passphrase(passphrase(slot), andKeyFile: file.duplicate())
    case .none: return try .passphrase(passphrase(slot))
    }
  }

  private func passphrase(_ slot: SlotDescription) throws -> Secret {
    if let descriptor = passphrases[slot.index] { return try .readingLine(descriptor) }
    return try Person.ask("Passphrase of slot \(slot.index): ", isAllowed: isInputAllowed)
  }
}
