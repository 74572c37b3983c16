package import SecretMemory
package import VaultCore

/// A new master key with the slots that seal it, made before the transaction that writes them: each passphrase takes a key derivation.
package struct MasterKeyRenewal: ~Copyable {
  private let master: Key
  private let vault: Identifier
  /// The slots as they were when the renewal began: others may change them meanwhile.
  private let before: [SlotDescription]
  private var slots: [Int: KeySlot] = [:]

  package init(of status: VaultStatus) throws {
    (vault, before) = (status.id, status.slots)
    master = try .random()
  }

  /// - Parameter slot: Goes into the row of this slot.
  package mutating func seal(
    _ slot: SlotDescription, under credential: borrowing Credential, kdf: KDFParameters
  ) throws {
    try credential.checkForNewSlot()
    slots[slot.index] = try KeySlot(index: slot.index, sealing: master, under: credential, kdf: kdf, vault: vault)
  }

  /// One commit: a new master key for all rows, which are proven, and new boxes for the class keys of this device. Items and their keys
  /// stay as they are. Slots that were not sealed anew are gone.
  /// - Parameters:
  ///   - deviceKey: The key of this device from this commit on, the same one or another.
  ///   - groups: Those whose re-key begins with this commit, so that it is known as unfinished until `Vault.rekey` has done its work; nil: all
  ///     that are there by now. An unfinished re-key begins anew with other keys.
  /// - Throws: `rotationBlocked` for records that cannot be sealed anew, `noSuchSlot` if the slots were changed meanwhile,
  ///   `lastSlot`, `passphraseSlotMissing`, `locked`; `deviceKeyMissing` if class keys of this device would be lost; integrity errors.
  package borrowing func commit(
    to opened: inout Vault, deviceKey: consuming Secret? = nil, replacing groups: [AccessGroup]? = []
  ) throws {
    guard !slots.isEmpty else { throw VaultError(.lastSlot) }
    let (slots, before) = (slots, before)
    let newKeys = try VaultKeys(master: master.duplicate(), vault: vault, device: deviceKey)
    try opened.transaction { transaction in
      guard transaction.state.header.masterEpoch < .max else { throw VaultError(.vaultFull, "numbers of master keys") }
      guard try transaction.slots().map(\.description) == before else { throw VaultError(.noSuchSlot, "changed meanwhile") }
      if !slots.values.contains(where: \.type.hasPassphrase) {
        let groups = try GroupDirectory(transaction.state).all
        guard !groups.contains(where: \.hasPasscodeKey) else { throw VaultError(.passphraseSlotMissing) }
      }
      try Self.rebuild(&transaction, newKeys, replacing: groups)
      for slot in before { try transaction.setSlot(slot.index, slots[slot.index]) }
    }
    if let slot = slots[opened.openedSlot.index] { opened.openedSlot = slot.description }
    opened.saveAnchor(isDurable: true)
  }

  /// Whether a credential opens this slot of the vault in the store.
  /// - Throws: `noSuchSlot`; what reading the slots and deriving the key throws.
  package static func opens(
    _ slot: SlotDescription, of store: any Store, with credential: borrowing Credential, _ ceiling: KDFCeiling
  ) throws -> Bool {
    let (vault, slots) = try store.read { rows in
      (try SealedHeader(reading: rows).header.vault, try SlotRows(reading: rows).parsed())
    }
    guard let there = slots.first(where: { $0.id == slot.id }) else { throw VaultError(.noSuchSlot) }
    return try there.open(with: credential, vault: vault, ceiling: ceiling) != nil
  }

  private static func rebuild(_ transaction: inout Transaction, _ newKeys: VaultKeys, replacing groups: [AccessGroup]?) throws {
    let state = transaction.state
    var change = Change()
    var tree = TreeEditor(empty: state.rows, keys: newKeys.integrity)
    var header = state.header
    header.masterEpoch += 1
    header.generation = transaction.generation
    func visit(_ prefix: [UInt8], _ error: VaultError?) throws {
      if let error { throw error }
      change.nodes[prefix] = .some(nil)
    }
    try state.forEachListed(0x00...0xFF, visit: visit) { id, leaf, row in
      do {
        let record = try row.get()
        try state.prove(record, id: id, leaf: leaf)
        let meta = try RecordMeta(parsing: record, header: state.header)
        guard meta.kind.isSystem else { return try tree.set(id, to: newKeys.integrity.leaf(record)) }
        let sealed = try state.resealed(record, meta, with: newKeys, header, replacing: groups)
        change.records[id] = .some(nil)
        change.records[sealed.head.id] = sealed
        try tree.set(sealed.head.id, to: newKeys.integrity.leaf(sealed.head))
      } catch let error as VaultError {
        throw error.naming(id)
      }
    }
    guard tree.recordCount == header.recordCount else { throw VaultError(.countMismatch) }
    (transaction.change, transaction.tree, transaction.renewedKeys) = (change, tree, newKeys)
  }
}

extension ProvenState {
  /// A system record under new keys.
  /// - Throws: `rotationBlocked` for an alias, and for a rule or policy of a later version: their identifiers are not known.
  fileprivate func resealed(
    _ record: RecordHead, _ meta: RecordMeta, with newKeys: VaultKeys, _ header: Header, replacing groups: [AccessGroup]?
  ) throws -> SealedRecord {
    let id: Identifier?
    switch meta.kind {
    case .group:
      var group = try openGroup(record).reboxed(keys, newKeys, version: header.generation)
      // Those that a re-key which was not finished has added may be known as well: they were under the master key of before.
      if groups?.contains(group.group) ?? true || group.isBeingReplaced {
        group = try group.replacingKeys(keys: newKeys, version: header.generation)
      }
      return try newKeys.seal(group, masterEpoch: header.masterEpoch)
    case .accessRule: id = try openAccessRule(record)?.name.recordID(newKeys)
    case .policy: id = try openLimits(record) == nil ? nil : newKeys.policyID("limits")
    case .alias, .item, .history: id = nil
    }
    guard let id else { throw VaultError(.rotationBlocked, "kind \(meta.kind.rawValue)") }
    let attributes = try keys.openSystem(.attributes, record.attributes, of: record, meta: meta)
    let secret = try keys.openSystem(.secret, secret(of: record), of: record, meta: meta)
    let newMeta = RecordMeta(kind: meta.kind, accessibility: .whenUnlocked, epoch: header.masterEpoch, version: header.generation)
    return try newKeys.sealSystemRecord(
      id, meta: newMeta, attributes: attributes.copyIntoUnprotectedBytes(), secret: secret)
  }
}
