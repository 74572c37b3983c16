import CofferFiles
package import VaultCore

extension UnnamedVault {
  /// Has a new vault written into the file: one transaction of SQLite, however many commits it takes.
  /// - Throws: the error of `body`; `full`, `readOnly`, `io`.
  package func build<Result>(_ body: (any Store) throws -> Result) throws -> Result {
    let result = try Self.fill(path, body)
    try new.file.synchronize()
    return result
  }

  /// The file is closed when this returns.
  private static func fill<Result>(_ path: String, _ body: (any Store) throws -> Result) throws -> Result {
    let store = UnnamedStore(try Creation.empty(path))
    let result = try body(store)
    try store.finish()
    return result
  }
}

/// A store over a file that has no name yet, and is removed if anything fails: its commits become durable with the last one.
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
