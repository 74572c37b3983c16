import VaultCore

/// Copies the rows of one vault into another, each within a transaction of its own connection. One row is in memory at a time.
///
/// Rows of our own, not a copy of pages: a page that was planted in the source stays there.
struct RowCopy {
  /// How many records are copied between two calls of `step`.
  private static let interval: UInt64 = 1024

  let source: Connection
  let target: Connection
  /// Whether nodes and records are copied that no reader would accept.
  var keepsDamage = false

  enum Rows {
    /// All rows.
    case all
    /// The nodes and the records.
    case content
  }

  /// How many rows were copied.
  struct Count: Equatable {
    var nodes: Int64 = 0
    var records: Int64 = 0
  }

  /// - Parameters:
  ///   - total: How many records there are according to the header: to count them, SQLite would walk without an end through pages that
  ///     lead back to earlier ones.
  ///   - step: Called with the number of records that are copied, and `total`.
  /// - Throws: `columnMismatch` for a row that no reader would accept, unless damage is kept; `storageDamaged`, also for rows that come
  ///   twice, which is the end of such a walk; the error of `step`.
  @discardableResult
  func run(_ rows: Rows, total: UInt64, step: (UInt64, UInt64) throws -> Void) throws -> Count {
    var count = Count()
    // SQLite takes no more memory for a row than the file has pages.
    if keepsDamage { for side in [source, target] { side.limitRows(to: .max) } }
    defer { for side in [source, target] { side.limitRows(to: Limits.rowByteCount) } }
    if rows == .all { try copyHeader() }
    try each(.allNodes, into: .copyNode) { row, new in
      count.nodes += 1
      try bind(new, row, [(Limits.nodeKey, "node.p"), (Limits.node, "node.b")])
    }
    try each(.wholeRecords, into: .copyRecord) { row, new in
      try bind(new, row, Self.recordColumns)
      let done = UInt64(count.records)
      if done % Self.interval == 0 { try step(done, total) }
      count.records += 1
    }
    try step(UInt64(count.records), total)
    return count
  }

  private static let recordColumns: [(ClosedRange<Int>, StaticString)] = [
    (Limits.identifier, "rec.id"), (Limits.identifier, "rec.grp"), (Limits.meta, "rec.m"), (Limits.field, "rec.a"),
    (Limits.digest, "rec.d"), (Limits.field, "rec.s"),
  ]

  private func bind(_ new: Statement, _ row: Statement, _ columns: [(ClosedRange<Int>, StaticString)]) throws {
    for (column, (length, name)) in zip(Int32(0)..., columns) {
      if keepsDamage {
        try new.bind(column + 1, anyColumn: column, of: row)
      } else {
        try new.bind(column + 1, column: column, of: row, length, name)
      }
    }
  }

  /// Removes what is to be replaced.
  func clear(_ rows: Rows) throws {
    if rows == .all { try target.run(.removeAllHeader) }
    try target.run(.removeAllNodes)
    try target.run(.removeAllRecords)
  }

  private func copyHeader() throws {
    try each(.allHeader, into: .copyHeader) { row, new in
      let key = try row.integer(0)
      try new.bind(1, key)
      try new.bind(2, column: 1, of: row, Limits.header(key), "hdr.v")
    }
  }

  private func each(_ query: SQL, into insertion: SQL, _ bind: (_ row: Statement, _ new: Statement) throws -> Void) throws {
    try source.with(query) { row in
      try target.with(insertion) { new in
        while try row.step() {
          try bind(row, new)
          guard try !new.step(), target.changes == 1 else { throw StorageError(.schemaAltered, "a row was not written") }
          new.reset()
        }
      }
    }
  }
}
