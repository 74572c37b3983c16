public import VaultCore

/// A store in memory, for tests of programs that use a vault. Its rows can be read and changed at will, to simulate a manipulated
/// store.
///
/// Not thread-safe.
public final class MemoryStore: Store, Rows {
  public var header: [Int: [UInt8]] = [:]
  public var nodes: [[UInt8]: [UInt8]] = [:]
  public var records: [Identifier: SealedRecord] = [:]
  /// Thrown by the next commit, after the change was assembled and before any of it is stored.
  public var nextCommitError: (any Error)?
  /// Thrown when the secret of this record is read.
  public var secretError: (id: Identifier, error: any Error)?
  /// The records whose secrets were read, in order.
  public var secretReads: [Identifier] = []
  /// The number of committed changes.
  public private(set) var commitCount = 0

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

  public func header(_ key: Int) throws -> [UInt8]? { header[key] }

  public func headerKeys() throws -> [Int64] { header.keys.sorted().map(Int64.init) }

  public func node(_ prefix: [UInt8]) throws -> [UInt8]? { nodes[prefix] }

  public func forEachNode(_ body: ([UInt8]) throws -> Void) throws {
    for prefix in nodes.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) { try body(prefix) }
  }

  public func record(_ id: Identifier) throws -> RecordHead? { records[id]?.head }

  public func secret(_ id: Identifier) throws -> [UInt8]? {
    secretReads.append(id)
    if let secretError, secretError.id == id { throw secretError.error }
    return records[id]?.secret
  }

  public func forEachRecord(
    under prefix: [UInt8], _ body: (Identifier?, Result<RecordHead, VaultError>) throws -> Void
  ) throws {
    for id in records.keys.filter({ $0.bytes.starts(with: prefix) }).sorted() {
      if let record = records[id] { try body(id, .success(record.head)) }
    }
  }
}

extension SealedRecord {
  public var id: Identifier { head.id }
  public var group: Identifier { head.group }
  public var meta: [UInt8] { head.meta }
  public var attributes: [UInt8] { head.attributes }
}
