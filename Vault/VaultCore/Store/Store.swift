public import SecretMemory

/// Where the rows of a vault lie. Trusted for nothing but atomic, durable commits: the core proves every row that it gets.
///
/// The core keeps no rows between two calls. Each call is one transaction, and the core begins each by proving the header again.
public protocol Store: AnyObject {
  /// One read transaction: `body` sees one state of the rows, whatever other processes commit meanwhile.
  /// - Throws: what `body` throws, unchanged, and the store's own errors.
  func read<Result: ~Copyable>(_ body: (any Rows) throws -> Result) throws -> Result

  /// One write transaction, alone among all processes: `prepare` sees the rows and says what changes. The change is applied as a
  /// whole and is durable when the call returns, or nothing of it is ever seen. Where `prepare` returns an empty change, or
  /// throws, nothing is written.
  /// - Throws: what `prepare` throws, unchanged, and the store's own errors. After an error that leaves the outcome in doubt the
  ///   generation in the header tells whether the change was made.
  func commit(_ prepare: (any Rows) throws -> Change) throws

  /// It may be long until the next call. Does nothing that cannot be left undone.
  func rest()

  /// Brings what was committed to where a copy of the vault's file has it, without waiting for anybody.
  /// - Returns: False if something remains outside; then it is to be called again.
  func fold() -> Bool
}

extension Store {
  public func rest() {}
  public func fold() -> Bool { true }
}

/// The rows of one transaction. Not to be used after the closure that it was lent to.
///
/// A column of another type or length than the format allows is `columnMismatch`, thrown before the bytes are copied.
public protocol Rows: AnyObject {
  /// `hdr`: the header (key 0, 256 bytes), the slots (1 to 8, at most 4256 bytes) and the history ring (9, at most 2048 bytes).
  /// - Throws: `columnMismatch`; the errors of the store.
  func header(_ key: Int) throws -> [UInt8]?
  /// All keys of `hdr`, ascending, also those that the format does not know.
  /// - Throws: The errors of the store.
  func headerKeys() throws -> [Int64]
  /// `node`: at most `Node.maximumByteCount` bytes.
  /// - Throws: `columnMismatch`; the errors of the store.
  func node(_ prefix: [UInt8]) throws -> [UInt8]?
  /// All keys of `node`, ascending, also those that no parent lists; 17 zeros for one that is longer, or of another type.
  /// - Throws: The error of `body`; the errors of the store.
  func forEachNode(_ body: ([UInt8]) throws -> Void) throws
  /// `rec`, by its primary key, without the column `s`, of which only type and length are read.
  /// - Throws: `columnMismatch`; the errors of the store.
  func record(_ id: Identifier) throws -> RecordHead?
  /// The column `s` of a row of `rec`.
  /// - Throws: `columnMismatch`; the errors of the store.
  func secret(_ id: Identifier) throws -> [UInt8]?
  /// The rows of `rec` whose identifiers begin with `prefix`, in ascending order, without the column `s`. Memory is bounded by
  /// the largest row. A row with a column of another type or length is given as its error, and the scan goes on; the identifier
  /// is nil if it is that column.
  /// - Throws: The error of `body`; the errors of the store.
  func forEachRecord(under prefix: [UInt8], _ body: (Identifier?, Result<RecordHead, VaultError>) throws -> Void) throws
}

/// The rows that one commit writes. Nil removes the row.
public struct Change: Sendable {
  /// The rows of `hdr`.
  public var header: [Int: [UInt8]?] = [:]
  /// The nodes of the tree, by prefix.
  public var nodes: [[UInt8]: [UInt8]?] = [:]
  /// The records, by identifier.
  public var records: [Identifier: SealedRecord?] = [:]
  /// Whether all records and nodes go whose key is none, so that it cannot name them.
  public var removesNamelessRows = false

  /// A change of nothing.
  public init() {}

  /// Whether nothing is written.
  public var isEmpty: Bool { header.isEmpty && nodes.isEmpty && records.isEmpty && !removesNamelessRows }
}

/// Where rollback anchors lie, outside the vaults, as seen from the path of one vault. See `Anchor`.
public protocol AnchorStore: AnyObject {
  /// The id of the vault that was opened last at this path; nil or empty if there was none.
  /// - Throws: The errors of the store.
  func lastVault() throws -> [UInt8]?
  /// The anchor of a vault; nil or empty if there is none. At most 4096 bytes are read.
  /// - Throws: The errors of the store.
  func load(_ vault: Identifier) throws -> [UInt8]?
  /// Replaces the anchor of a vault by what `replacement` makes of the one that is there, nil if there is none (nil: leaves it), and notes the vault
  /// as the last one at this path; in both alone among all processes.
  /// - Parameters:
  ///   - vault: The id of the vault.
  ///   - isDurable: Whether the anchor is on the disk when this returns. It need not be otherwise: one that lags behind refuses nothing.
  ///   - replacement: Gets the anchor that is there.
  /// - Throws: The error of `replacement`; the errors of the store.
  func update(_ vault: Identifier, isDurable: Bool, _ replacement: ([UInt8]?) throws -> [UInt8]?) throws
  /// Replaces the anchor for this path by one that need not continue it, because the owner wants the state here, and notes the vault. Durable
  /// when it returns. Vaults of this id at other paths are compared with the anchor of before.
  /// - Parameters:
  ///   - vault: The id of the vault.
  ///   - anchor: The anchor of the state here.
  /// - Throws: The errors of the store.
  func accept(_ vault: Identifier, _ anchor: [UInt8]) throws
}
