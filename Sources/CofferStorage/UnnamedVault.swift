package import CofferFiles
import Glibc
import VaultCore

/// A vault file under a temporary name: a copy that is being made. It is removed if it gets no name of its own.
///
/// The process that makes it has it locked, so that another one removes what a killed process has left, and nothing else.
package struct UnnamedVault: ~Copyable {
  let new: NewFile

  /// Where it lies until it has its name.
  package var path: String { new.path }

  /// - Parameter path: The path of the vault that it is to become, in a directory that is there.
  /// - Throws: `noVault` if the directory is missing; `readOnly`, `accessDenied`, `full`, `io`.
  package init(for path: String) throws(StorageError) {
    new = try Self.lockedFile(for: Location(path).path)
  }

  /// Makes a file with a temporary name, locked as `leftovers` expects it.
  /// - Parameter path: The name that it is to get, in the same directory.
  static func lockedFile(for path: String) throws(StorageError) -> NewFile {
    while true {
      let new = try NewFile(at: TemporaryName.next(for: path))
      // A cleaner that was faster than the lock removes it, or has removed it.
      guard case .taken = FileLock(on: new.file.number).attempt(), try new.file.status().links > 0 else { continue }
      return new
    }
  }

  /// Writes the rows of a vault, as one transaction sees them while others write, and reads them back.
  /// - Parameters:
  ///   - keepsDamage: Whether nodes and records are copied that no reader would accept.
  ///   - step: Called now and then with the records done and the records in all. An error that it throws ends the copy.
  /// - Returns: how many records were copied: fewer than the header says if the vault lacks some.
  /// - Throws: as `FileStore.read`; `columnMismatch`, `storageDamaged` for rows that no reader would accept; `full`, `readOnly`, `io`;
  ///   the error of `step`.
  @discardableResult
  package func fill(from store: FileStore, keepsDamage: Bool = false, step: (UInt64, UInt64) throws -> Void) throws -> UInt64 {
    let written = try store.read { rows in
      let target = try Creation.empty(path)
      let copy = RowCopy(source: try store.connection(of: rows), target: target, keepsDamage: keepsDamage)
      let count = try copy.run(.all, total: (try? SealedHeader(reading: rows).header.recordCount) ?? 0, step: step)
      try target.run(.commit)
      return try Written(count, rows)
    }
    try new.file.synchronize()
    let copy = try self.store()
    let readBack = try copy.read { rows in
      let connection = try copy.connection(of: rows)
      return try Written(
        RowCopy.Count(nodes: connection.integer(.nodeCount), records: connection.integer(.recordCount)), rows)
    }
    guard readBack == written else { throw StorageError(.storageDamaged, "the copy differs from what was written") }
    return UInt64(written.count.records)
  }

  private struct Written: Equatable {
    let header: [[UInt8]?]
    let keys: [Int64]
    let count: RowCopy.Count

    init(_ count: RowCopy.Count, _ rows: any Rows) throws {
      (header, keys, self.count) = (try (0...9).map(rows.header), try rows.headerKeys(), count)
    }
  }

  /// The size of the largest file that is copied in, in bytes: 64 GiB. A sparse file claims any size, and would fill the disk.
  package static let maximumByteCount: Int64 = 64 << 30

  /// Takes the bytes of an open file, whatever its position. It may lie anywhere and belong to anybody: nothing is opened in its place.
  /// - Throws: `notAVault` for anything but a regular file, and as `newerFormat` and `migrationNeeded` before anything is copied; `tooLarge`;
  ///   `full`; `io`, also for a file that grows or shrinks meanwhile; the error of `step`.
  package func fill(from other: File<StorageError>, step: (UInt64, UInt64) throws -> Void) throws {
    let status = try other.status()
    guard status.kind == .file else { throw StorageError(.notAVault, "\(other.path) is not a regular file") }
    guard status.size <= Self.maximumByteCount else { throw StorageError(.tooLarge, "\(other.path): \(status.size) bytes") }
    var done: Int64 = 0
    while case let piece = try other.read(at: Int(done), count: 1 << 20), !piece.isEmpty {
      if done == 0 { try Container.check(start: piece) }
      done += Int64(piece.count)
      guard done <= status.size else { throw StorageError(.io, "\(other.path) grows while it is read") }
      try new.file.write(piece)
      try step(UInt64(done), UInt64(status.size))
    }
    guard done == status.size else { throw StorageError(.io, "\(other.path) shrinks while it is read") }
  }

  /// The vault, to be read: nothing is locked or made beside it.
  package func store() throws -> FileStore { try FileStore(unchangingAt: path) }

  /// Returns when all that was written is on the disk.
  package func synchronize() throws(StorageError) { try new.file.synchronize() }

  /// Gives it its name, durably.
  /// - Returns: false if something lies at the path.
  /// - Throws: what renaming throws; `inDoubt` if it has the name, and the directory could not be synced.
  package consuming func appear(at path: String) throws(StorageError) -> Bool {
    guard try new.appear(at: path) else { return false }
    do { try Files.synchronizeDirectory(Path.parent(of: path)) } catch { throw StorageError(.inDoubt, error.detail) }
    return true
  }

  /// Removes the files that killed processes have left in a directory.
  /// - Parameter isOurs: Whether the name that such a file was to get is one to look after.
  /// - Returns: the paths of those that were found.
  @discardableResult
  package static func leftovers(in directory: String, remove: Bool, of isOurs: (String) -> Bool) -> [String] {
    let names = (try? OpenDirectory.foreign(directory).names().map(\.description)) ?? []
    return names.compactMap { name in
      guard let own = TemporaryName.name(of: name), isOurs(own) else { return nil }
      let path = Path.join(directory, name)
      guard let file = try? SmallFile.open(path), case .taken = FileLock(on: file.number).attempt() else { return nil }
      if remove { unsafe unlink(path) }
      return path
    }
  }
}
