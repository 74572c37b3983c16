import VaultCore

extension Change {
  /// Whether it only frees space: it removes records and writes none, apart from the nodes and the header.
  var onlyRemoves: Bool { !records.isEmpty && records.values.allSatisfy { $0 == nil } }

  /// Writes the rows, within a transaction.
  ///
  /// Each statement must have written its one row: SQLite reports success also where a trigger or a rule in the file kept it from
  /// writing. In ascending order, so that the same change makes the same file and the B-trees are walked once.
  /// - Throws: `columnMismatch` for a row that no reader would accept; `schemaAltered` where SQLite did not write; what SQLite
  ///   throws.
  func apply(to connection: Connection) throws {
    for (key, value) in header.sorted(by: { $0.key < $1.key }) {
      let key = Int64(key)
      guard let value else {
        try Self.write(.removeHeader, on: connection, removing: true) { try $0.bind(1, key) }
        continue
      }
      try Self.check(value, Limits.header(key), "hdr.v")
      try Self.write(.writeHeader, on: connection) {
        try $0.bind(1, key)
        try $0.bind(2, value)
      }
    }
    for (prefix, body) in nodes.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      guard let body else {
        try Self.write(.removeNode, on: connection, removing: true) { try $0.bind(1, prefix) }
        continue
      }
      try Self.check(prefix, Limits.nodeKey, "node.p")
      try Self.check(body, Limits.node, "node.b")
      try Self.write(.writeNode, on: connection) {
        try $0.bind(1, prefix)
        try $0.bind(2, body)
      }
    }
    if removesNamelessRows {
      // To remove a row, SQLite reads its key.
      connection.limitRows(to: .max)
      defer { connection.limitRows(to: Limits.rowByteCount) }
      try connection.run(.removeNamelessRecords)
      try connection.run(.removeNamelessNodes)
    }
    for (id, record) in records.sorted(by: { $0.key < $1.key }) {
      guard let record else {
        try Self.write(.removeRecord, on: connection, removing: true) { try $0.bind(1, id.bytes) }
        continue
      }
      let head = record.head
      precondition(head.id == id, "a record under another's identifier")
      try Self.check(head.meta, Limits.meta, "rec.m")
      try Self.check(head.attributes, Limits.field, "rec.a")
      try Self.check(head.secretDigest, Limits.digest, "rec.d")
      try Self.check(record.secret, Limits.field, "rec.s")
      try Self.write(.writeRecord, on: connection) {
        try $0.bind(1, id.bytes)
        try $0.bind(2, head.group.bytes)
        try $0.bind(3, head.meta)
        try $0.bind(4, head.attributes)
        try $0.bind(5, head.secretDigest)
        try $0.bind(6, record.secret)
      }
    }
  }

  private static func check(_ bytes: [UInt8], _ length: ClosedRange<Int>, _ name: StaticString) throws(StorageError) {
    guard length.contains(bytes.count) else { throw StorageError(.columnMismatch, "\(name) would have \(bytes.count) bytes") }
  }

  /// Removing a row that is not there is no error.
  private static func write(
    _ sql: SQL, on connection: Connection, removing: Bool = false, _ bind: (Statement) throws -> Void
  ) throws {
    try connection.with(sql) { statement in
      try bind(statement)
      guard try !statement.step(), connection.changes == 1 || removing else {
        throw StorageError(.schemaAltered, "a row was not written")
      }
    }
  }
}
