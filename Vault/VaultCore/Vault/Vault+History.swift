import SecretMemory

/// An item with the versions before its present value, or a removed item with all of its versions.
public struct ItemHistory: Equatable, Sendable {
  /// The item as it is, or as it was when it was removed.
  public let entry: Entry
  /// The time at which the item was removed; nil if it is there.
  public let removed: Timestamp?
  /// The versions before that of `entry`, newest first.
  public let former: [FormerVersion]
}

/// A row of a former version, opened.
package struct FormerItem {
  package let version: FormerVersion
  package let item: Item
  package let meta: RecordMeta
  package let isRemoved: Bool
  package let former: [FormerVersion]

  package func history(in group: GroupKeys) -> ItemHistory {
    let entry = Entry(
      reference: Reference(group: group.group, id: version.origin), item: item, accessibility: meta.accessibility,
      generation: meta.version, version: version.number)
    return ItemHistory(entry: entry, removed: version.replaced, former: former)
  }
}

extension Vault {
  /// The versions of an item, also of a removed one: two look-ups at most, and no secret is read.
  /// - Throws: `notFound`, `groupNotFound`; integrity errors.
  public borrowing func history(of reference: Reference) throws -> ItemHistory {
    try reading { state, keyring in try state.history(of: reference, in: keyring.existing(reference.group, in: state)) }
  }
}

extension VaultError.Code {
  /// Whether the item is sound, but does not open here and now.
  package var meansSealedElsewhere: Bool { [.deviceKeyMissing, .wrongDeviceKey, .locked].contains(self) }
}

extension ProvenState {
  package func history(of reference: Reference, in group: GroupKeys) throws -> ItemHistory {
    if let record = try record(reference.id) {
      let entry = try openItem(record, meta: itemMeta(record, in: group), group: group)
      return ItemHistory(entry: entry, removed: nil, former: entry.former)
    }
    guard let head = try record(group.historyID(reference.id, .max)) else { throw VaultError(.notFound) }
    return try openFormer(head, in: group).history(in: group)
  }

  /// Opens the row of a former version, which must be proven.
  /// - Parameter generation: the newest that the row may be of, if that is not the header's.
  package func openFormer(_ record: RecordHead, in group: GroupKeys, upTo generation: UInt64? = nil) throws -> FormerItem {
    let meta = try RecordMeta(parsing: record, header: header, upTo: generation)
    guard meta.kind == .history, record.group == group.groupID else { throw VaultError(.recordMalformed, "no former version") }
    var item = try decodedItem(record, meta: meta, group: group)
    let marks = try HistoryMarks(takenFrom: &item, isItem: false)
    guard let origin = marks.origin, let number = marks.number, let time = marks.replaced ?? marks.deleted else {
      throw VaultError(.attributesMalformed, "a former version")
    }
    let isRemoved = marks.deleted != nil
    guard group.historyID(origin, isRemoved ? .max : number) == record.id else { throw VaultError(.identifierMismatch) }
    return FormerItem(
      version: FormerVersion(origin: origin, number: number, replaced: time), item: item, meta: meta, isRemoved: isRemoved,
      former: marks.former)
  }
}
