import SecretMemory

/// A field of a record: which of the two it is goes into its key.
enum RecordField: UInt8 {
  case attributes = 1
  case secret = 2
}

/// Where a record stands. Each field has a key of its own, derived from all of this: secretbox has no associated data, and a field
/// that is moved to another vault, record, group, kind, class, epoch, version or field opens under no key.
/// Section 7.2 of FORMAT.md.
struct RecordSeal {
  let vault: Identifier
  let id: Identifier
  let group: Identifier
  let meta: RecordMeta

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
  func seal(
    attributes: [UInt8], secret: borrowing Secret, with groupKey: borrowing Key
  ) throws(VaultError) -> SealedRecord {
    let hedge = meta.bytes
    let plain = try Secret(copying: attributes)
    return SealedRecord(
      id: id, group: group, meta: hedge,
      attributes: try SecretBox.seal(plain, key: try key(.attributes, from: groupKey), hedge: hedge),
      secret: try SecretBox.seal(secret, key: try key(.secret, from: groupKey), hedge: hedge))
  }

  /// - Throws: `sealBroken`, `paddingNotCanonical`.
  func open(_ field: RecordField, _ box: [UInt8], with groupKey: borrowing Key) throws(VaultError) -> Secret {
    try SecretBox.open(box, key: try key(field, from: groupKey))
  }
}
