import SecretMemory
package import VaultCore

/// How the items of a vault differ from those of a backup of it, by the identifiers and columns of their rows. Former versions of items
/// are not counted.
package struct Comparison: Equatable, Sendable {
  /// Items of the vault that the backup does not have: made since, or moved or renamed.
  package var onlyHere: UInt64 = 0
  /// Items of the backup that the vault does not have.
  package var onlyThere: UInt64 = 0
  /// Items that were written here after the backup.
  package var newerHere: UInt64 = 0
  /// Items that differ otherwise: another history, or a damaged row.
  package var differing: UInt64 = 0
  /// Whether groups, apps, grants or the policy differ.
  package var otherRecordsDiffer = false

  package init() {}

  /// One walk over each of the two, with one record of each in memory.
  package init(of here: any Rows, with there: any Rows) throws {
    var common: UInt64 = 0
    try there.forEachRecord(under: []) { id, row in
      guard let id, let copied = try? row.get() else { return }
      let present = try? here.record(id)
      guard Self.isItem(id) else {
        if !Self.isHistory(id), present != copied { otherRecordsDiffer = true }
        return
      }
      guard let present else {
        onlyThere += 1
        return
      }
      common += 1
      guard present != copied else { return }
      if Self.version(present) > Self.version(copied) { newerHere += 1 } else { differing += 1 }
    }
    var count: UInt64 = 0
    try here.forEachRecord(under: []) { id, _ in
      guard let id, !Self.isHistory(id) else { return }
      if Self.isItem(id) { count += 1 } else if try there.record(id) == nil { otherRecordsDiffer = true }
    }
    onlyHere = count - min(count, common)
  }

  private static func isItem(_ id: Identifier) -> Bool { RecordKind.item.firstBytes.contains(id.byte(at: 0)) }
  private static func isHistory(_ id: Identifier) -> Bool { RecordKind.history.firstBytes.contains(id.byte(at: 0)) }

  /// The generation that wrote it: the last 8 bytes of `m`.
  private static func version(_ record: RecordHead) -> UInt64 {
    record.meta.suffix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Whether the items are the same.
  package var isSame: Bool { self == Comparison() }
}
