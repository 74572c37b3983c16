import CLinux
import CofferFiles
import Glibc
import SecretMemory
import VaultCore

/// Makes a vault: built under another name, made durable, and then given its own name, if that is not taken.
///
/// A process that dies on the way leaves nothing at the path, and at most a file `.NAME.….new` beside it that means nothing. The
/// next creation removes it. Section 10.3 of FORMAT.md.
struct Creation {
  private let location: Location

  /// - Throws: `vaultExists`, `logWithoutVault`, `noVault`, `foreignOwner`, `permissionsTooOpen`, `readOnly`.
  init(_ location: Location) throws(StorageError) {
    self.location = location
    guard let directory = try Files.status(at: location.directory) else { throw StorageError(.noVault, location.directory) }
    try Ownership.check(directory: directory, location.directory)
    try checkVacant()
    guard location.isWritable else { throw StorageError(.readOnly, location.directory) }
  }

  /// The log of a vault that is gone would be taken for the new one's. It may be all that is left of the old one, so it stays.
  private func checkVacant() throws(StorageError) {
    guard try Files.status(at: location.path) == nil else { throw StorageError(.vaultExists, location.path) }
    try location.checkHasNoLog()
  }

  /// Within the side lock.
  /// - Throws: `vaultExists`, `logWithoutVault`; `inDoubt` where the vault has its name and it is not known whether it keeps it; what writing
  ///   throws.
  func run(_ change: Change) throws {
    try checkVacant()
    removeLeftovers()
    // Made here for its mode and its exclusiveness; SQLite takes an empty file for a new database.
    let new = try NewFile(at: TemporaryName.next(for: location.path))
    try Self.fill(new.path, change)
    try new.file.synchronize()
    guard try new.appear(at: location.path) else { throw StorageError(.vaultExists, location.path) }
    do { try Files.synchronizeDirectory(location.directory) } catch { throw StorageError(.inDoubt, "\(error)") }
  }

  private static func fill(_ path: String, _ change: Change) throws {
    let connection = try empty(path)
    try change.apply(to: connection)
    try connection.run(.commit)
  }

  /// Opens a new file, within the transaction that fills it. The file has no name of its own yet, and an incomplete one is discarded,
  /// so no journal is written: SQLite refuses to do without one. The caller commits and syncs.
  static func empty(_ path: String) throws -> Connection {
    let connection = try Connection(path, .create)
    for statement in ["PRAGMA page_size=\(Container.pageByteCount)", "PRAGMA journal_mode=MEMORY", "PRAGMA synchronous=OFF"] {
      try connection.run(statement)
    }
    try connection.run(.beginWrite)
    try connection.run("PRAGMA application_id=\(Container.program)")
    try connection.run("PRAGMA user_version=\(Container.formatVersion)")
    for object in Container.schema { try connection.run(object.sql) }
    return connection
  }

  /// Only makers of vaults write such files, and they hold the side lock, so no process is at work on these.
  private func removeLeftovers() {
    for name in TemporaryName.leftovers(of: location.name, in: location.directory) { unsafe unlink(name) }
  }
}

/// The rows of a vault that is not there yet.
final class NoRows: Rows {
  func header(_ key: Int) -> [UInt8]? { nil }
  func headerKeys() -> [Int64] { [] }
  func node(_ prefix: [UInt8]) -> [UInt8]? { nil }
  func forEachNode(_ body: ([UInt8]) throws -> Void) {}
  func record(_ id: Identifier) -> RecordHead? { nil }
  func secret(_ id: Identifier) -> [UInt8]? { nil }
  func forEachRecord(under prefix: [UInt8], _ body: (Identifier?, Result<RecordHead, VaultError>) throws -> Void) {}
}
