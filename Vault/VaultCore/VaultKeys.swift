package import SecretMemory

/// Every key of an open vault, or those that a locked one has left. A class, because the vault and each of its transactions hold
/// it; wiped with the last of them.
package final class VaultKeys {
  package let vault: Identifier
  package let integrity: IntegrityKeys
  /// Nil while the vault is not locked.
  let kept: KeptWhileLocked?
  private let forgotten: Forgotten?

  /// The keys that a lock wipes.
  private final class Forgotten {
    /// Held to seal it under new slots.
    let master: Key
    let system: Key
    let device: Key?

    init(master: consuming Key, system: consuming Key, device: consuming Key?) {
      self.master = master
      self.system = system
      self.device = device
    }
  }

  /// - Throws: `deviceKeyMissing` for a device key of another length than 32 bytes.
  package init(master: consuming Key, vault: Identifier, device: consuming Secret?) throws(VaultError) {
    let integrity = try IntegrityKeys(master: master, vault: vault)
    let system = try master.derive(.vault(.systemGroup, vault))
    var deviceKey: Key?
    if let device {
      guard let key = Key(device) else { throw VaultError(.deviceKeyMissing, "a device key has 32 bytes") }
      deviceKey = consume key
    }
    self.vault = vault
    self.integrity = integrity
    kept = nil
    forgotten = Forgotten(master: master, system: system, device: deviceKey)
  }

  /// Those of a vault of the draft, whose tree has another key.
  package init(ofDraft keys: VaultKeys) throws {
    vault = keys.vault
    integrity = try keys.withMaster { try IntegrityKeys(master: $0, vault: keys.vault, tree: .draftTree) }
    kept = nil
    forgotten = keys.forgotten
  }

  /// The keys that remain after their vault was locked.
  init(locking keys: VaultKeys, keeping kept: KeptWhileLocked) {
    vault = keys.vault
    integrity = keys.integrity
    self.kept = kept
    forgotten = nil
  }

  package var isLocked: Bool { forgotten == nil }

  /// - Throws: `locked`.
  package func checkUnlocked() throws(VaultError) { _ = try unlocked() }

  private func unlocked() throws(VaultError) -> Forgotten {
    guard let forgotten else { throw VaultError(.locked) }
    return forgotten
  }

  /// - Throws: `locked`; what `body` throws.
  package func withMaster<Result: ~Copyable>(_ body: (borrowing Key) throws -> Result) throws -> Result {
    try body(try unlocked().master)
  }

  /// - Throws: `locked`.
  package func groupRecordID(_ group: AccessGroup) throws(VaultError) -> Identifier {
    var context = Context(.groupID)
    context.append(Array(group.name.utf8))
    return try systemRecordID(context)
  }

  /// The key that seals the class key of a …ThisDevice class inside the group's record.
  /// - Throws: `locked`, `deviceKeyMissing`.
  package func deviceSealKey(groupID: Identifier, _ accessibility: Accessibility, epoch: UInt32) throws(VaultError) -> Key {
    var context = Context(.device)
    context.append(vault)
    context.append(groupID)
    context.append(accessibility.rawValue)
    context.append(epoch)
    guard let key = try unlocked().device?.derive(context) else { throw VaultError(.deviceKeyMissing) }
    return key
  }

  package func seal(_ group: GroupKeys, masterEpoch: UInt32) throws(VaultError) -> SealedRecord {
    let meta = RecordMeta(kind: .group, accessibility: .whenUnlocked, epoch: masterEpoch, version: group.version)
    let id = try groupRecordID(group.group)
    return try sealSystemRecord(id, meta: meta, attributes: group.attributes, secret: try group.encodeSecret())
  }

  /// The plaintext of a field of a system record.
  /// - Throws: `locked`, `sealBroken`, `paddingNotCanonical`.
  package func openSystem(
    _ field: RecordField, _ box: [UInt8], of record: RecordHead, meta: RecordMeta
  ) throws(VaultError) -> Secret {
    let seal = RecordSeal(vault: vault, id: record.id, group: record.group, meta: meta)
    return try seal.open(field, box, with: try unlocked().system)
  }

  /// Opens a group's record, which must be proven.
  /// - Throws: `locked`, `sealBroken`, `paddingNotCanonical`, `attributesMalformed`, `groupMalformed`, `identifierMismatch`.
  package func openGroup(_ record: RecordHead, secret: [UInt8], meta: RecordMeta) throws(VaultError) -> GroupKeys {
    defer { Sodium.wipeStack() }
    let attributes = try openSystem(.attributes, record.attributes, of: record, meta: meta).copyIntoUnprotectedBytes()
    let secret = try openSystem(.secret, secret, of: record, meta: meta)
    let group = try GroupKeys.decode(attributes: attributes, secret: secret, version: meta.version)
    guard try groupRecordID(group.group) == record.id else { throw VaultError(.identifierMismatch, "a group's record") }
    return group
  }

  // MARK: Other system records

  /// - Throws: `locked`.
  package func systemRecordID(_ context: Context) throws(VaultError) -> Identifier {
    try unlocked().system.digest(context).identifier.ofSystemRecord
  }

  package func sealSystemRecord(
    _ id: Identifier, meta: RecordMeta, attributes: [UInt8], secret: borrowing Secret
  ) throws(VaultError) -> SealedRecord {
    try RecordSeal(vault: vault, id: id, group: .zero, meta: meta)
      .seal(attributes: attributes, secret: secret, with: try unlocked().system)
  }
}
