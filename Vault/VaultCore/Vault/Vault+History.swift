import SecretMemory

/// A row of a former version, opened.
package struct FormerItem {
  package let version: FormerVersion
  package let item: Item
  package let meta: RecordMeta
  package let isRemoved: Bool
  package let former: [FormerVersion]
}

extension VaultError.Code {
  /// Whether the item is sound, but does not open here and now.
  package var meansSealedElsewhere: Bool { [.deviceKeyMissing, .wrongDeviceKey, .locked].contains(self) }
}

extension ProvenState {
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
