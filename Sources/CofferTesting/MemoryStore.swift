public import SecretMemory
public import VaultCore

/// A store in memory, for tests of programs that use a vault. Its rows can be read and changed at will, to simulate a manipulated
/// store.
///
/// Not thread-safe.
public final class MemoryStore: Store, Rows {
  /// The rows of the header table.
  public var header: [Int: [UInt8]] = [:]
  /// The nodes of the tree, by prefix.
  public var nodes: [[UInt8]: [UInt8]] = [:]
  /// The records.
  public var records: [Identifier: SealedRecord] = [:]
  /// Thrown by the next commit, after the change was assembled and before any of it is stored.
  public var nextCommitError: (any Error)?
  /// Thrown when the secret of this record is read.
  public var secretError: (id: Identifier, error: any Error)?
  /// The records whose secrets were read, in order.
  public var secretReads: [Identifier] = []
  /// The number of committed changes.
  public private(set) var commitCount = 0

  /// An empty store.
  public init() {}

  /// A new store with the same rows.
  public func copy() -> MemoryStore {
    let copy = MemoryStore()
    copy.header = header
    copy.nodes = nodes
    copy.records = records
    return copy
  }

  public func read<Result: ~Copyable>(_ body: (any Rows) throws -> Result) throws -> Result {
    try body(self)
  }

  public func commit(_ prepare: (any Rows) throws -> Change) throws {
    let change = try prepare(self)
    if let error = nextCommitError {
      nextCommitError = nil
      throw error
    }
    guard !change.isEmpty else { return }
    for (key, value) in change.header { header[key] = value }
    for (prefix, body) in change.nodes { nodes[prefix] = body }
    for (id, record) in change.records { records[id] = record }
    commitCount += 1
  }

  /// The value of a row of the header table.
  /// - Throws: Nothing; other stores throw.
  public func header(_ key: Int) throws -> [UInt8]? { header[key] }

  /// The keys of the header table.
  /// - Throws: Nothing; other stores throw.
  public func headerKeys() throws -> [Int64] { header.keys.sorted().map(Int64.init) }

  /// The node of a prefix.
  /// - Throws: Nothing; other stores throw.
  public func node(_ prefix: [UInt8]) throws -> [UInt8]? { nodes[prefix] }

  /// Calls `body` for each node.
  /// - Throws: The error of `body`.
  public func forEachNode(_ body: ([UInt8]) throws -> Void) throws {
    for prefix in nodes.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) { try body(prefix) }
  }

  /// The record without its secret.
  /// - Throws: Nothing; other stores throw.
  public func record(_ id: Identifier) throws -> RecordHead? { records[id]?.head }

  /// The sealed secret of a record, counted in `secretReads`.
  /// - Throws: `secretError`, for its record.
  public func secret(_ id: Identifier) throws -> [UInt8]? {
    secretReads.append(id)
    if let secretError, secretError.id == id { throw secretError.error }
    return records[id]?.secret
  }

  /// Calls `body` for each record of a prefix.
  /// - Throws: The error of `body`.
  public func forEachRecord(
    under prefix: [UInt8], _ body: (Identifier?, Result<RecordHead, VaultError>) throws -> Void
  ) throws {
    for id in records.keys.filter({ $0.bytes.starts(with: prefix) }).sorted() {
      if let record = records[id] { try body(id, .success(record.head)) }
    }
  }
}

extension SealedRecord {
  /// The identifier of the record.
  public var id: Identifier { head.id }
  /// The group of the record.
  public var group: Identifier { head.group }
  /// The metadata of the record.
  public var meta: [UInt8] { head.meta }
  /// The sealed attributes of the record.
  public var attributes: [UInt8] { head.attributes }
}
