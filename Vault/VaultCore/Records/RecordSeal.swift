package import SecretMemory

/// A field of a record: which of the two it is goes into its key.
package enum RecordField: UInt8 {
  case attributes = 1
  case secret = 2
}

/// Where a record stands. Each field has a key of its own, derived from all of this: secretbox has no associated data, and a field
/// that is moved to another vault, record, group, kind, class, epoch, version or field opens under no key.
/// Section 7.2 of FORMAT.md.
package struct RecordSeal {
  package let vault: Identifier
  package let id: Identifier
  package let group: Identifier
  package let meta: RecordMeta

  package init(vault: Identifier, id: Identifier, group: Identifier, meta: RecordMeta) {
    (self.vault, self.id, self.group, self.meta) = (vault, id, group, meta)
  }

  private func key(_ field: RecordField, from groupKey: borrowing Key) throws(VaultError) -> Key {
    var context = Context(.record)
    context.append(vault)
    context.append(id)
    context.append(group)
    context.append(meta.bytes)
    context.append(field.rawValue)
    return try groupKey.derive(context)
  }

  /// - Throws: `secretTooLarge`.
  package func seal(
    attributes: [UInt8], secret: borrowing Secret, with groupKey: borrowing Key
  ) throws(VaultError) -> SealedRecord {
    let (hedge, random) = (meta.bytes, SecretBox.randomBytes(32))
    let plain = try Secret(copying: attributes)
    return SealedRecord(
      id: id, group: group, meta: hedge,
      attributes: try SecretBox.seal(plain, key: try key(.attributes, from: groupKey), hedge: hedge, random: random),
      secret: try SecretBox.seal(secret, key: try key(.secret, from: groupKey), hedge: hedge, random: random))
  }

  /// - Throws: `sealBroken`, `paddingNotCanonical`.
  package func open(_ field: RecordField, _ box: [UInt8], with groupKey: borrowing Key) throws(VaultError) -> Secret {
    try SecretBox.open(box, key: try key(field, from: groupKey))
  }
}
