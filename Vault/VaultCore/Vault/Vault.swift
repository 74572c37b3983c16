public import SecretMemory

/// An open vault: sealed items in access groups, over a store that is trusted for nothing but atomic commits.
///
/// Every call is one transaction of the store and begins by proving the header, so that several processes can have the vault
/// open. Not thread-safe: one owner at a time.
public struct Vault: ~Copyable {
  package let store: any Store
  package let keyring: Keyring
  private let anchorKeeper: AnchorKeeper?
  /// The slot that the credential opened.
  public package(set) var openedSlot: SlotDescription
  /// The result of comparing the anchor with the state that was opened.
  public let rollbackCheck: RollbackCheck

  // MARK: Making and opening

  /// Makes a vault with one slot and the group `default`, in a store that holds none.
  /// - Parameters:
  ///   - store: An empty store.
  ///   - credential: The credential of the first slot.
  ///   - kdf: For slots with a passphrase. Takes about 0.6 s and 256 MiB at `.standard`.
  ///   - now: The time of creation.
  ///   - anchor: Stores the state of the new vault.
  ///   - deviceKey: 32 bytes that never leave the machine; only …ThisDevice items need it.
  ///   - second: The credential of a second slot, such as a recovery key.
  /// - Throws: `vaultExists`; `passphraseNotText`, `passphraseLength`, `keyFileLength`, `recoveryKeyMalformed`; what the store
  ///   throws.
  public static func create(
    in store: any Store, with credential: borrowing Credential, kdf: KDFParameters = .standard, at now: Timestamp,
    anchor: (any AnchorStore)? = nil, deviceKey: consuming Secret? = nil, second: borrowing Credential? = nil
  ) throws -> Vault {
    try credential.checkForNewSlot()
    guard let id = Identifier(SecretBox.randomBytes(Identifier.byteCount)) else { throw VaultError(.headerMalformed) }
    let keys = try VaultKeys(master: .random(), vault: id, device: deviceKey)
    let slot = try keys.withMaster { try KeySlot(index: 1, sealing: $0, under: credential, kdf: kdf, vault: id) }
    var slots = [slot]
    switch second {
    case .some(let second):
      try second.checkForNewSlot()
      slots.append(try keys.withMaster { try KeySlot(index: 2, sealing: $0, under: second, kdf: kdf, vault: id) })
    case .none: break
    }
    let keyring = Keyring(keys: keys)
    try store.commit { rows in
      guard try rows.headerKeys().isEmpty else { throw VaultError(.vaultExists) }
      let (change, header) = try firstCommit(keys: keys, slots: slots, rows: rows, at: now)
      keyring.adopt(header)
      return change
    }
    let anchorKeeper = anchor.map { AnchorKeeper($0, keyring: keyring, saved: 0) }
    // The vault is made, whatever comes of its anchor; `close` tries again and tells.
    try? anchorKeeper?.save()
    return Vault(
      store: store, keyring: keyring, anchorKeeper: anchorKeeper, openedSlot: slot.description, rollbackCheck: .noAnchor)
  }

  private static func firstCommit(
    keys: VaultKeys, slots: [KeySlot], rows: any Rows, at now: Timestamp
  ) throws -> (Change, SealedHeader) {
    var change = Change()
    var slotRows = SlotRows()
    for slot in slots {
      slotRows.setSlot(slot.index, slot.bytes)
      change.header[slot.index] = slot.bytes
    }
    let group = try keys.seal(.make(.standard, at: now, version: 1), masterEpoch: 1)
    change.records[group.head.id] = group
    var tree = TreeEditor(empty: rows, keys: keys.integrity)
    try tree.set(group.head.id, to: keys.integrity.leaf(group.head))
    let header = Header(
      vault: keys.vault, generation: 1, recordCount: 1, created: now, masterEpoch: 1, slotCount: UInt32(slots.count),
      slotsDigest: keys.integrity.slotsDigest(slotRows), root: try tree.finish(into: &change), previousMAC: .zero
    ).sealed(with: keys.integrity)
    change.header[0] = header.bytes
    return (change, header)
  }

  /// Opens a vault and proves its header, slots and history, and that it continues the anchored state.
  /// - Parameters:
  ///   - store: The store of the vault.
  ///   - credential: The credential of one of its slots.
  ///   - ceiling: The highest cost of a key derivation.
  ///   - anchor: The state that was last seen.
  ///   - deviceKey: Opens …ThisDevice items.
  ///   - isCopy: A refusal of the anchor is only reported in `rollbackCheck`, and the anchor is not changed: for a copy beside
  ///     the vault in use, such as a backup.
  /// - Throws: `wrongCredential`; `noSuchSlot` where no slot is of the credential's kind; `kdfAboveCeiling`; `kdfBelowFloor`,
  ///   `slotMalformed`, `unknownSlotType`, `slotDamaged`; `notAVault`, `newerFormat`, `unknownIncompatibleFlag`,
  ///   `headerMalformed`; `headerForged`, `slotsForged`; `anchorOtherVault`, `anchorOtherKeys`, `anchorDamaged`, `rolledBack`, `forked`; what the
  ///   stores throw.
  public static func open(
    _ store: any Store, with credential: borrowing Credential, ceiling: KDFCeiling = .standard,
    anchor: (any AnchorStore)? = nil, deviceKey: consuming Secret? = nil, isCopy: Bool = false
  ) throws -> Vault {
    let unlocked = try unlock(store, with: credential, ceiling: ceiling)
    let (slot, masterEpoch) = (unlocked.slot, unlocked.masterEpoch)
    let keyring = Keyring(keys: try unlocked.keys(device: deviceKey), masterEpoch: masterEpoch)
    let seen = try anchor.map { try SeenBefore($0, of: keyring.keys.vault) }
    let (check, saved) = try store.read { rows in
      let state = try keyring.prove(rows)
      let slotRows = try state.slotRows()
      return seen?.check(state, slotRows) ?? (.noAnchor, 0)
    }
    if !isCopy, case .refused(let rollback) = check { throw rollback.reason }
    let anchorKeeper = isCopy ? nil : anchor.map { AnchorKeeper($0, keyring: keyring, saved: saved) }
    return Vault(store: store, keyring: keyring, anchorKeeper: anchorKeeper, openedSlot: slot, rollbackCheck: check)
  }

  /// Saves the anchor. A vault that just goes does so as well, but cannot tell of a failure.
  /// - Throws: The errors of the anchor's store.
  public consuming func close() throws {
    try anchorKeeper?.save()
  }

  /// The generation that was seen last. Nothing is read for that.
  public var lastGeneration: UInt64 { keyring.newest?.header.generation ?? 0 }

  /// The generation as it is now: proven, and compared with the anchor, which another process may have written since.
  /// - Throws: `anchorOtherKeys` if another process has renewed the master key, and the vault of before is back: then the keys are forgotten;
  ///   `rolledBack`, `forked`, `anchorDamaged`; integrity errors; what the stores throw.
  public borrowing func generation() throws -> UInt64 {
    let (anchorKeeper, anchor) = (anchorKeeper, try anchorKeeper?.load())
    return try reading { state, _ in
      try anchorKeeper?.check(state, state.slotRows(), against: anchor)
      return state.header.generation
    }
  }

  // MARK: Locking

  /// Whether `lock` was called. There is no way back: who wants the keys again opens the vault again.
  public var isLocked: Bool { keyring.keys.isLocked }

  /// Forgets the master key, the device key, and all that opens the records of groups, of apps, and items of the classes "when
  /// unlocked". The remaining keys open, prove and seal items of the classes "after first unlock", and apply the present
  /// rules about apps; everything else is `locked`.
  ///
  /// If the vault cannot be read at this moment, no key remains. Saves the anchor.
  public mutating func lock() {
    guard !isLocked else { return rest() }
    defer { Sodium.wipeStack() }
    let kept = try? reading { state, _ in try KeptWhileLocked(state) }
    keyring.lock(keeping: kept ?? KeptWhileLocked())
    rest()
  }

  /// It may be long until the next call: the anchor is saved, and the store may let its file be the whole vault.
  public func rest() {
    saveAnchor()
    store.rest()
  }

  /// Lets the store bring what was committed into the vault's file: see `Store.fold`. Not after `rest`, which does the same.
  public func fold() -> Bool { store.fold() }

  /// If the process is killed before this, the anchor names an older generation, and the next open accepts that generation as
  /// well.
  /// - Parameter isDurable: see `AnchorStore.update`.
  public func saveAnchor(isDurable: Bool = false) {
    // An anchor that lags is of the same history; `close` tries again and tells.
    try? anchorKeeper?.save(isDurable: isDurable)
  }

  // MARK: Transactions

  /// One read transaction on a proven state.
  package func reading<Result: ~Copyable>(_ body: (ProvenState, Keyring) throws -> Result) throws -> Result {
    let keyring = keyring
    return try store.read { rows in try body(try keyring.prove(rows), keyring) }
  }

  /// Several changes in one commit: all of them or, where `body` throws, none.
  /// - Throws: what `body` throws; `unknownReadOnlyFlag`; as `generation`, and then nothing is changed. Errors in writing the anchor do not
  ///   undo the commit and are thrown by `close`.
  public mutating func transaction<Result: ~Copyable>(_ body: (inout Transaction) throws -> Result) throws -> Result {
    let (keyring, anchorKeeper) = (keyring, anchorKeeper)
    var result: Result?
    var committed: (header: SealedHeader, keys: VaultKeys?)?
    try store.commit { rows in
      var transaction = try Transaction(proving: rows, keyring: keyring)
      try anchorKeeper?.check(transaction.state, transaction.slotRows, against: anchorKeeper?.load())
      result = try body(&transaction)
      let (change, header) = try transaction.finish()
      committed = header.map { ($0, transaction.renewedKeys) }
      if let header, let renewed = transaction.renewedKeys { try anchorKeeper?.announce(header, renewed.integrity) }
      return change
    }
    if let committed { keyring.adopt(committed.header, committed.keys) }
    // A lagging anchor is harmless; `close` tries again and tells.
    try? anchorKeeper?.saveNowAndThen()
    guard let result = result.take() else { preconditionFailure("the store did not run the transaction") }
    return result
  }

  /// For sealing the master key under a new slot.
  package var keys: VaultKeys { keyring.keys }
}
