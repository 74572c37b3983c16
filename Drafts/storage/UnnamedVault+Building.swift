import VaultCore

extension UnnamedVault {
  /// Has a new vault written into the file, as one transaction of SQLite, however many commits it takes.
  /// - Throws: the error of `body`; `full`, `readOnly`, `io`.
  package func build<Result>(_ body: (any Store) throws -> Result) throws -> Result {
    let store = UnnamedStore(try Creation.empty(path))
    let result = try body(store)
    try store.finish()
    try synchronize()
    return result
  }
}

/// A store over a file that has no name yet, and that is abandoned if anything fails: a commit is durable with the last one.
private final class UnnamedStore: Store {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func read<Result: ~Copyable>(_ body: (any Rows) throws -> Result) throws -> Result {
    let rows = StoredRows(connection)
    defer { rows.close() }
    return try body(rows)
  }

  func commit(_ prepare: (any Rows) throws -> Change) throws {
    try read(prepare).apply(to: connection)
  }

  func finish() throws { try connection.run(.commit) }
}
