package import SecretMemory

/// One state of the vault inside one transaction of the store, proven from the header on. Each transaction begins by making one.
/// Section 10.1 of FORMAT.md.
package struct ProvenState {
  package let rows: any Rows
  package let keys: VaultKeys
  package let sealedHeader: SealedHeader
  package let tree: ProvenTree

  package var header: Header { sealedHeader.header }
  package var mac: Digest { sealedHeader.mac }

  /// - Parameters:
  ///   - known: A header that these keys have proven. The same bytes need no second proof.
  ///   - nodes: Nodes that these keys have proven.
  /// - Throws: `notAVault` if there is no header; errors of parsing and proving it.
  package init(proving rows: any Rows, keys: VaultKeys, known: SealedHeader? = nil, nodes: NodeCache? = nil) throws {
    sealedHeader = try SealedHeader(reading: rows)
    if known?.bytes != sealedHeader.bytes {
      guard sealedHeader.header.vault == keys.vault else { throw VaultError(.headerForged, "another vault") }
      try sealedHeader.prove(with: keys.integrity)
    }
    self.rows = rows
    self.keys = keys
    tree = ProvenTree(
      rows: rows, depth: sealedHeader.header.depth, root: sealedHeader.header.root, keys: keys.integrity,
      isEmpty: sealedHeader.header.recordCount == 0, known: nodes)
  }

  /// - Throws: `slotsForged`, and what the store throws.
  package func slotRows() throws -> SlotRows { try SlotRows(proving: rows, header: header, keys: keys.integrity) }

  /// A record by its identifier; nil is a proven absence.
  /// - Throws: `recordMissing`, `recordForged`, and what the tree throws.
  package func record(_ id: Identifier) throws -> RecordHead? {
    guard let leaf = try tree.leaf(id) else { return nil }
    return try record(id, expecting: leaf)
  }

  package func record(_ id: Identifier, expecting leaf: Digest) throws -> RecordHead {
    guard let record = try rows.record(id) else { throw VaultError(.recordMissing, "\(id)") }
    try prove(record, id: id, leaf: leaf)
    return record
  }

  package func prove(_ record: RecordHead, id: Identifier, leaf: Digest) throws(VaultError) {
    guard record.id == id, keys.integrity.leaf(record) == leaf else { throw VaultError(.recordForged, "\(id)") }
  }

  /// The column `s` of a record that is proven.
  /// - Throws: `recordMissing`, `recordForged`.
  package func secret(of record: RecordHead) throws -> [UInt8] {
    guard let secret = try rows.secret(record.id) else { throw VaultError(.recordMissing, "\(record.id)") }
    guard Digest(unchecked: Digest.hash(secret, byteCount: Digest.byteCount)) == Digest(record.secretDigest) else {
      throw VaultError(.recordForged, "\(record.id): the secret")
    }
    return secret
  }

  /// Every record of a kind, or of those that share the kind's first bytes, that the tree lists: proven, in ascending order, and
  /// proven to be all. Rows that it does not list are passed over: no look-up reaches them. Memory is bounded by one leaf node
  /// and one record.
  /// - Parameter damaged: is called for each record that is missing or damaged, also if `body` throws that. The walk goes on if
  ///   it returns.
  package func forEachRecord(
    _ kind: RecordKind, damaged: (VaultError) throws -> Void, _ body: (RecordHead, RecordMeta) throws -> Void
  ) throws {
    try forEachListed(kind.firstBytes) { id, leaf, row in
      do {
        let record = try row.get()
        try prove(record, id: id, leaf: leaf)
        try body(record, RecordMeta(parsing: record, header: header))
      } catch let error as VaultError where error.code.concernsOneRecord {
        try damaged(error.naming(id))
      }
    }
  }

  /// Each record that the tree lists under these first bytes, with its row, or what is wrong with the row, in ascending order.
  /// - Parameters:
  ///   - visit: see `ProvenTree.Entries`.
  ///   - unlisted: is called for each row that the tree does not list.
  package func forEachListed(
    _ firstBytes: ClosedRange<UInt8>,
    visit: ([UInt8], VaultError?) throws -> Void = { if let error = $1 { throw error } },
    unlisted: (Identifier?, Result<RecordHead, VaultError>) throws -> Void = { _, _ in },
    _ body: (Identifier, Digest, Result<RecordHead, VaultError>) throws -> Void
  ) throws {
    var entries = ProvenTree.Entries(tree, firstBytes)
    var listed = try entries.next(visit)
    func passMissing(before id: Identifier?) throws {
      while let missing = listed, id.map({ missing.id < $0 }) ?? true {
        try body(missing.id, missing.leaf, .failure(VaultError(.recordMissing)))
        listed = try entries.next(visit)
      }
    }
    // One scan: to find a row by its identifier, the store may read the secrets of those that it compares.
    try rows.forEachRecord(under: firstBytes.count == 1 ? [firstBytes.lowerBound] : []) { id, row in
      guard let id else { return try unlisted(nil, row) }
      try passMissing(before: id)
      guard let (next, leaf) = listed, next == id else { return try unlisted(id, row) }
      listed = try entries.next(visit)
      try body(id, leaf, row)
    }
    try passMissing(before: nil)
  }

  // MARK: Groups

  /// Opens the record of a group, which must be proven.
  package func openGroup(_ record: RecordHead) throws -> GroupKeys {
    let meta = try RecordMeta(parsing: record, header: header)
    guard meta.kind == .group else { throw VaultError(.recordMalformed, "no group") }
    return try keys.openGroup(record, secret: secret(of: record), meta: meta)
  }

  // MARK: Items

  /// The clear header of a record that was found under an item's identifier.
  /// - Throws: `recordMalformed` for another kind of record; `unknownGroup`, `sealBroken` or `identifierMismatch` for one that
  ///   is in another group, which no genuine writer makes.
  /// - Parameter generation: the newest that a record may be of, where it is not the header's.
  package func itemMeta(_ record: RecordHead, in group: GroupKeys, upTo generation: UInt64? = nil) throws -> RecordMeta {
    let meta = try RecordMeta(parsing: record, header: header, upTo: generation)
    guard meta.kind == .item else { throw VaultError(.recordMalformed, "no item") }
    guard record.group != group.groupID else { return meta }
    guard let actual = try GroupDirectory(self).group(record.group) else { throw VaultError(.unknownGroup, "\(record.group)") }
    _ = try openItem(record, meta: meta, group: actual)
    throw VaultError(.identifierMismatch, "\(record.id)")
  }

  /// Opens the sealed attributes of an item and checks them against the identifier of its row.
  /// - Throws: `sealBroken`, `paddingNotCanonical`, `attributesMalformed`, `identifierMismatch`, `deviceKeyMissing`, …
  package func openItem(_ record: RecordHead, meta: RecordMeta, group: GroupKeys) throws -> Entry {
    var item = try decodedItem(record, meta: meta, group: group)
    let marks = try HistoryMarks(takenFrom: &item, isItem: true)
    guard group.itemID(item) == record.id else { throw VaultError(.identifierMismatch, "\(record.id)") }
    return Entry(
      reference: Reference(group: group.group, id: record.id), item: item, accessibility: meta.accessibility,
      generation: meta.version, version: marks.number, former: marks.former)
  }

  package func decodedItem(_ record: RecordHead, meta: RecordMeta, group: GroupKeys) throws -> Item {
    let key = try group.key(meta.accessibility, epoch: meta.epoch, keys: keys)
    return try Item(decoding: seal(record, meta).open(.attributes, record.attributes, with: key).copyIntoUnprotectedBytes())
  }

  /// - Parameter secret: The record's column `s`.
  package func openSecret(_ secret: [UInt8], of record: RecordHead, meta: RecordMeta, group: GroupKeys) throws -> Secret {
    let key = try group.key(meta.accessibility, epoch: meta.epoch, keys: keys)
    return try seal(record, meta).open(.secret, secret, with: key)
  }

  package func openSecret(_ record: RecordHead, meta: RecordMeta, group: GroupKeys) throws -> Secret {
    try openSecret(secret(of: record), of: record, meta: meta, group: group)
  }

  private func seal(_ record: RecordHead, _ meta: RecordMeta) -> RecordSeal {
    RecordSeal(vault: keys.vault, id: record.id, group: record.group, meta: meta)
  }
}
