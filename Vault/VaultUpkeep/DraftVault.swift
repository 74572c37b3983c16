package import SecretMemory
package import VaultCore

/// A vault of the draft of the format, "CFV1", open. Its header, slots, groups' keys and boxes are those of the format; the identifiers of
/// its records, their leaves and the key of its tree are not. Not thread-safe.
package final class DraftVault {
  let keys: VaultKeys
  /// The records that `convert` left out, by their identifiers in the draft: items of other devices, whose boxes are bound to those
  /// identifiers and cannot be sealed anew here, and damaged records.
  package private(set) var leftOut: [Identifier: VaultError] = [:]

  /// - Parameter store: its header and slots are read.
  /// - Throws: as `Vault.open`, anchors apart; nothing is proven yet.
  package init(
    opening store: any Store, with credential: borrowing Credential, ceiling: KDFCeiling = .standard,
    deviceKey: consuming Secret? = nil
  ) throws {
    keys = try Vault.unlock(store, with: credential, ceiling: ceiling).keys(device: deviceKey)
  }

  /// Proves the draft and seals each of its records anew, as the next generation of the same vault: master key, slots, groups' keys and
  /// history go on.
  /// - Parameters:
  ///   - rows: those of the draft. Its leaves cover the secrets themselves, so a secret stands in the place of its digest.
  ///   - leavesDamaged: whether records that are damaged, or not listed, are left out.
  ///   - write: is called with each record of the format, in no order.
  /// - Returns: what is to be written beside the records, the nodes being all.
  /// - Throws: integrity errors, which name the record by its identifier in the draft; `recordUnlisted`; `countMismatch`;
  ///   `unknownReadOnlyFlag`; what `write` throws.
  package func convert(_ rows: any Rows, leavesDamaged: Bool, write: (SealedRecord) throws -> Void) throws -> Change {
    defer { Sodium.wipeStack() }
    var transaction = try Transaction(proving: rows, keyring: Keyring(keys: VaultKeys(ofDraft: keys)))
    var tree = TreeEditor(empty: rows, keys: keys.integrity)
    var groups: [Identifier: GroupKeys] = [:]
    leftOut = [:]
    func passUnlisted(_ id: Identifier?, _ row: Result<RecordHead, VaultError>) throws {
      let id = try id ?? row.get().id
      guard leavesDamaged else { throw VaultError(.recordUnlisted, "\(id)") }
      leftOut[id] = VaultError(.recordUnlisted, "\(id)")
    }
    // Items last: they take the keys of their groups.
    for isItem in [false, true] {
      try transaction.state.forEachListed(0x00...0xFF, unlisted: passUnlisted) { id, leaf, row in
        do {
          let record = try row.get()
          try transaction.state.prove(record, id: id, leaf: leaf)
          guard (record.meta.first == RecordKind.item.rawValue) == isItem else { return }
          let sealed = try seal(record, isItem, transaction.state.header, &groups)
          try tree.set(sealed.head.id, to: keys.integrity.leaf(sealed.head))
          try write(sealed)
        } catch let error as VaultError where error.code.concernsOneRecord || error.code.meansSealedElsewhere {
          guard leavesDamaged || error.code.meansSealedElsewhere else { throw error.naming(id) }
          leftOut[id] = error.naming(id)
        }
      }
    }
    let listedCount = tree.recordCount + UInt64(leftOut.values.count { $0.code != .recordUnlisted })
    guard listedCount == transaction.state.header.recordCount else { throw VaultError(.countMismatch) }
    transaction.tree = tree
    return try transaction.seal().change
  }

  private func seal(
    _ old: RecordHead, _ isItem: Bool, _ header: Header, _ groups: inout [Identifier: GroupKeys]
  ) throws -> SealedRecord {
    let new = RecordHead(
      id: isItem ? old.id.ofItem : old.id.ofSystemRecord, group: old.group, meta: old.meta, attributes: old.attributes,
      secretDigest: old.secretDigest, secretCount: old.secretCount)
    let past = try RecordMeta(parsing: new, header: header)
    let meta = RecordMeta(
      kind: past.kind, accessibility: past.accessibility, epoch: past.epoch, version: header.generation + 1)
    let key: Key
    if isItem {
      guard let group = groups[old.group] else { throw VaultError(.unknownGroup) }
      key = try group.key(meta.accessibility, epoch: meta.epoch, keys: keys)
    } else {
      key = try keys.withMaster { try $0.derive(.vault(.systemGroup, keys.vault)) }
    }
    let seal = RecordSeal(vault: keys.vault, id: old.id, group: old.group, meta: past)
    let attributes = try seal.open(.attributes, old.attributes, with: key).copyIntoUnprotectedBytes()
    let secret = try seal.open(.secret, old.secretDigest, with: key)
    if meta.kind == .group {
      let group = try GroupKeys.decode(attributes: attributes, secret: secret, version: meta.version)
      groups[group.groupID] = group
    }
    return try RecordSeal(vault: keys.vault, id: new.id, group: new.group, meta: meta)
      .seal(attributes: attributes, secret: secret, with: key)
  }

  /// Proves and opens everything in the converted vault, and that it continues the anchored state.
  /// - Returns: its problems are items beyond the limits of writers, which the draft did not have: they are no damage.
  /// - Throws: the first other problem; `anchorOtherVault`, `anchorOtherKeys`, `anchorDamaged`, `rolledBack`, `forked`.
  package func verify(_ rows: any Rows, anchor: any AnchorStore) throws -> Verification {
    let state = try ProvenState(proving: rows, keys: keys)
    let slotRows = try SlotRows(proving: rows, header: state.header, keys: keys.integrity)
    if case .refused(let rollback) = try SeenBefore(anchor, of: keys.vault).check(state, slotRows).0 { throw rollback.reason }
    let found = try VerificationWalk(state).run()
    if let damage = found.problems.first(where: { $0.code != .nameNotAllowed && $0.code != .nameTooLong }) { throw damage }
    return found
  }
}
