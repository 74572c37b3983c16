public import SecretMemory

extension Vault {
  /// Seals the master key under one more credential.
  /// - Throws: `slotsFull` (there are eight); what the credential throws; integrity errors.
  @discardableResult
  public mutating func addSlot(
    _ credential: borrowing Credential, kdf: KDFParameters = .standard
  ) throws -> SlotDescription {
    try credential.checkForNewSlot()
    // The key derivation is slow: it runs before the transaction that stores its result, and is skipped if no slot is free.
    _ = try Self.freeIndex(beside: status().slots.map(\.index))
    let vault = keys.vault
    let made = try keys.withMaster { try KeySlot(index: 1, sealing: $0, under: credential, kdf: kdf, vault: vault) }
    return try transaction { transaction in
      let slot = try KeySlot(index: Self.freeIndex(beside: transaction.slots().map(\.index)), parsing: made.bytes)
      try transaction.setSlot(slot.index, slot)
      return slot.description
    }
  }

  /// Makes a recovery key, and a slot for it.
  /// - Returns: the key as text, to be written down: it is kept nowhere.
  /// - Throws: as `addSlot`.
  public mutating func addRecoverySlot() throws -> Secret {
    let text = try RecoveryKey.random()
    try addSlot(try .recoveryKey(try text.duplicate()))
    return text
  }

  /// - Throws: `noSuchSlot`; `lastSlot`; `passphraseSlotMissing` where it is the last one with a passphrase and a group has items
  ///   that must not outlive it; integrity errors.
  public mutating func removeSlot(_ id: Identifier) throws {
    try transaction { transaction in
      let slots = try transaction.slots()
      guard let slot = slots.first(where: { $0.id == id }) else { throw VaultError(.noSuchSlot) }
      let others = slots.filter { $0.id != id }
      guard !others.isEmpty else { throw VaultError(.lastSlot) }
      try Self.check(others, transaction)
      try transaction.setSlot(slot.index, nil)
    }
  }

  /// Puts another credential in the place of one: a change of the passphrase. One commit; no item is sealed anew, so an
  /// old copy of the file still opens with the old credential.
  /// - Throws: `noSuchSlot`; what the credential throws; `passphraseSlotMissing`; integrity errors.
  public mutating func replaceSlot(
    _ id: Identifier, with credential: borrowing Credential, kdf: KDFParameters = .standard
  ) throws {
    try credential.checkForNewSlot()
    guard let old = try status().slots.first(where: { $0.id == id }) else { throw VaultError(.noSuchSlot) }
    let vault = keys.vault
    let slot = try keys.withMaster { try KeySlot(index: old.index, sealing: $0, under: credential, kdf: kdf, vault: vault) }
    try transaction { transaction in
      let slots = try transaction.slots()
      guard slots.contains(where: { $0.id == id && $0.index == slot.index }) else { throw VaultError(.noSuchSlot) }
      try Self.check(slots.filter { $0.id != id } + [slot], transaction)
      try transaction.setSlot(slot.index, slot)
    }
    if openedSlot.id == id { openedSlot = slot.description }
  }

  private static func check(_ slots: [KeySlot], _ transaction: borrowing Transaction) throws {
    guard !slots.contains(where: \.type.hasPassphrase) else { return }
    guard try !transaction.hasPasscodeKeys() else { throw VaultError(.passphraseSlotMissing) }
  }

  private static func freeIndex(beside taken: [Int]) throws -> Int {
    guard let index = SlotDescription.indices.first(where: { !taken.contains($0) }) else { throw VaultError(.slotsFull) }
    return index
  }
}
