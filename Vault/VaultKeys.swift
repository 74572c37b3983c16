/// Every key of an open vault. A class, because the open vault and each of its transactions hold it; wiped with the last of them.
final class VaultKeys {
  let vault: Identifier
  /// Kept to seal it under new slots.
  let master: Key
  let integrity: IntegrityKeys
  private let system: Key
  private let device: Key?

  /// - Throws: `deviceKeyMissing` for a device key of another length than 32 bytes.
  init(master: consuming Key, vault: Identifier, device: consuming Secret?) throws(VaultError) {
    let integrity = try IntegrityKeys(master: master, vault: vault)
    let system = try master.derive(.vault(.systemGroup, vault))
    var deviceKey: Key?
    if let device {
      guard let key = Key(device) else { throw VaultError(.deviceKeyMissing, "a device key has 32 bytes") }
      deviceKey = consume key
    }
    self.vault = vault
    self.master = master
    self.integrity = integrity
    self.system = system
    self.device = deviceKey
  }

  func groupRecordID(_ group: AccessGroup) -> Identifier {
    var context = Context(.groupID)
    context.append(Array(group.name.utf8))
    return system.digest(context).identifier
  }

  /// What seals the class key of a …ThisDevice class inside the group's record.
  /// - Throws: `deviceKeyMissing`.
  func deviceSealKey(groupID: Identifier, _ accessibility: Accessibility, epoch: UInt32) throws(VaultError) -> Key {
    var context = Context(.device)
    context.append(vault)
    context.append(groupID)
    context.append(accessibility.rawValue)
    context.append(epoch)
    guard let key = try device?.derive(context) else { throw VaultError(.deviceKeyMissing) }
    return key
  }

  func seal(_ group: GroupKeys, masterEpoch: UInt32) throws(VaultError) -> SealedRecord {
    let meta = RecordMeta(kind: .group, accessibility: .whenUnlocked, epoch: masterEpoch, version: group.version)
    let seal = RecordSeal(vault: vault, id: groupRecordID(group.group), group: .zero, meta: meta)
    return try seal.seal(attributes: group.attributes, secret: try group.encodeSecret(), with: system)
  }

  /// The plaintext of field `a` of a system record.
  func systemAttributes(_ record: SealedRecord, meta: RecordMeta) throws(VaultError) -> [UInt8] {
    let seal = RecordSeal(vault: vault, id: record.id, group: record.group, meta: meta)
    return try seal.open(.attributes, of: record, with: system).copyIntoUnprotectedBytes()
  }

  /// Opens the secret of a proven system record that is to have none. How long it is.
  /// - Throws: `sealBroken`, `paddingNotCanonical`.
  func systemSecretCount(_ record: SealedRecord, meta: RecordMeta) throws(VaultError) -> Int {
    let seal = RecordSeal(vault: vault, id: record.id, group: record.group, meta: meta)
    return try seal.open(.secret, of: record, with: system).count
  }

  /// Opens a group's record, which must be proven.
  /// - Throws: `sealBroken`, `paddingNotCanonical`, `attributesMalformed`, `groupMalformed`, `identifierMismatch`.
  func openGroup(_ record: SealedRecord, meta: RecordMeta) throws(VaultError) -> GroupKeys {
    let seal = RecordSeal(vault: vault, id: record.id, group: record.group, meta: meta)
    let attributes = try systemAttributes(record, meta: meta)
    let secret = try seal.open(.secret, of: record, with: system)
    let group = try GroupKeys.decode(
      attributes: attributes, secret: secret, version: meta.version)
    guard groupRecordID(group.group) == record.id else { throw VaultError(.identifierMismatch, "a group's record") }
    return group
  }

  // MARK: Other system records

  func systemRecordID(_ context: Context) -> Identifier { system.digest(context).identifier }

  /// A system record that holds no secret.
  func sealSystemRecord(_ id: Identifier, meta: RecordMeta, attributes: [UInt8]) throws(VaultError) -> SealedRecord {
    let seal = RecordSeal(vault: vault, id: id, group: .zero, meta: meta)
    return try seal.seal(attributes: attributes, secret: try Secret(count: 0), with: system)
  }
}
