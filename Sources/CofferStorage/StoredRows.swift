import SecretMemory
import VaultCore

/// The rows that one transaction sees. Types and lengths of the columns are checked before their bytes are copied; what the bytes
/// say is for the core to prove.
final class StoredRows: Rows {
  let connection: Connection
  private let isDraft: Bool
  private var isOpen = true

  /// - Parameter isDraft: Whether the records are those of the table `draft`: see `DraftFile`.
  init(_ connection: Connection, isDraft: Bool = false) { (self.connection, self.isDraft) = (connection, isDraft) }

  /// The transaction is over.
  func close() { isOpen = false }

  private func query<Result>(_ sql: SQL, _ body: (Statement) throws -> Result) throws -> Result {
    precondition(isOpen, "the rows of a transaction were used after it")
    do {
      return try connection.with(sql, body)
    } catch let error as StorageError where error.code == .columnMismatch {
      throw VaultError(.columnMismatch, error.detail)
    }
  }

  func header(_ key: Int) throws -> [UInt8]? {
    try query(.header) { statement in
      try statement.bind(1, Int64(key))
      return try statement.step() ? statement.bytes(0, Limits.header(Int64(key)), "hdr.v") : nil
    }
  }

  func headerKeys() throws -> [Int64] {
    try query(.headerKeys) { statement in
      var keys: [Int64] = []
      while try statement.step() {
        // No file of ours has more than ten; a forged one must not make us collect a billion.
        guard keys.count < 256 else { throw StorageError(.columnMismatch, "hdr has too many rows") }
        keys.append(try statement.integer(0))
      }
      return keys
    }
  }

  func node(_ prefix: [UInt8]) throws -> [UInt8]? {
    try query(.node) { statement in
      try statement.bind(1, prefix)
      return try statement.step() ? statement.bytes(0, Limits.node, "node.b") : nil
    }
  }

  func forEachNode(_ body: ([UInt8]) throws -> Void) throws {
    try query(.nodeKeys) { statement in
      var last: [UInt8]?
      var unnamed: Int64 = 0
      while try statement.step() {
        let key: [UInt8]
        do { key = try statement.bytes(0, Limits.nodeKey, "node.p") } catch StorageError(.columnMismatch) {
          try countUnnamed(&unnamed)
          // No node has a key of this length: it is refused as one that nothing lists.
          try body([UInt8](repeating: 0, count: Limits.nodeKey.upperBound))
          continue
        }
        guard last.map({ $0.lexicographicallyPrecedes(key) }) ?? true else { throw Self.unordered }
        last = key
        try body(key)
      }
    }
  }

  func record(_ id: Identifier) throws -> RecordHead? {
    try query(.record) { statement in
      try statement.bind(1, id.bytes)
      return try statement.step() ? Self.record(statement, id) : nil
    }
  }

  func secret(_ id: Identifier) throws -> [UInt8]? {
    try query(.secret) { statement in
      try statement.bind(1, id.bytes)
      return try statement.step() ? statement.bytes(0, Limits.field, "rec.s") : nil
    }
  }

  func forEachRecord(
    under prefix: [UInt8], _ body: (Identifier?, Result<RecordHead, VaultError>) throws -> Void
  ) throws {
    let isFromStart = prefix.allSatisfy { $0 == 0 }
    try query(isDraft ? .recordsOfDraft : isFromStart ? .allRecords : .recordsFrom) { statement in
      if !isFromStart { try statement.bind(1, prefix) }
      var last: Identifier?
      var unnamed: Int64 = 0
      while try statement.step() {
        var id: Identifier?
        let record = Result { () throws(StorageError) in
          let known = try Self.identifier(statement, 0, "rec.id")
          id = known
          return try Self.record(statement, known, digest: isDraft ? Limits.field : Limits.digest)
        }.mapError { VaultError($0.code == .columnMismatch ? .columnMismatch : .outOfMemory, $0.detail) }
        if let id {
          guard last.map({ $0 < id }) ?? true else { throw Self.unordered }
          last = id
          guard id.bytes.starts(with: prefix) else { return }
        } else {
          try countUnnamed(&unnamed)
        }
        try body(id, record)
      }
    }
  }

  /// Rows without a key are not compared. There cannot be more than the pages of the file have room for.
  private func countUnnamed(_ count: inout Int64) throws {
    count += 1
    guard try count <= connection.integer(.pageCount) * Int64(Container.pageByteCount) else { throw Self.unordered }
  }

  /// SQLite does not notice a B-tree whose pages meet again further down: a few of them make a walk without an end. Rows that come in
  /// order come once.
  private static var unordered: StorageError { StorageError(.storageDamaged, "the rows of a table are not in order") }

  private static func record(
    _ statement: Statement, _ id: Identifier, digest: ClosedRange<Int> = Limits.digest
  ) throws(StorageError) -> RecordHead {
    RecordHead(
      id: id, group: try identifier(statement, 1, "rec.grp"), meta: try statement.bytes(2, Limits.meta, "rec.m"),
      attributes: try statement.bytes(3, Limits.field, "rec.a"),
      secretDigest: try statement.bytes(4, digest, "rec.d"),
      secretCount: try statement.count(5, Limits.field, "rec.s"))
  }

  private static func identifier(
    _ statement: Statement, _ column: Int32, _ name: StaticString
  ) throws(StorageError) -> Identifier {
    guard let identifier = Identifier(try statement.bytes(column, Limits.identifier, name)) else {
      throw StorageError(.columnMismatch, "\(name)")
    }
    return identifier
  }
}
