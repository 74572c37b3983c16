internal import CofferFiles
import Glibc
public import VaultCore

/// The rollback anchors of this machine's vaults, in a directory outside of them: a file for each vault, named by the vault's id, so that
/// a vault that is moved keeps its anchor; and for each path a note of the vault that was opened there last, so that a vault that takes
/// another one's place is noticed. Not thread-safe; any number of processes may use one directory.
public final class AnchorFiles: AnchorStore {
  /// The longest anchor there may be.
  public static let maximumByteCount = 4096
  /// A process holds the lock while it replaces two small files: after this long it was stopped.
  private static let lockPatience = 10_000

  /// The directory of the anchors.
  public let directory: String
  private let vaultPath: String

  /// Nothing is opened or made yet.
  /// - Parameters:
  ///   - directory: The directory, `anchors` in `Places.state`.
  ///   - vaultPath: As `FileStore.path` gives it, so that all ways to write the path lead to one note.
  public init(in directory: String, forVaultAt vaultPath: String) { (self.directory, self.vaultPath) = (directory, vaultPath) }

  /// The path of a vault's anchor.
  public func path(of vault: Identifier) -> String { "\(directory)/\(vault)" }

  /// The note of this path. The digest makes a file name of a path of any length.
  /// - Throws: `randomNotAvailable`.
  public func notePath() throws -> String {
    var digest = try ContentDigest()
    digest.update(Array(vaultPath.utf8))
    let name = digest.finish()
    return "\(directory)/at-\(name.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())"
  }

  /// - Throws: as `load`.
  public func lastVault() throws -> [UInt8]? { try Self.read(notePath()) }

  /// Nil if there is no file, or an empty one.
  /// - Throws: `StorageError`: `wrongLength`, `symbolicLink`, `notAVault` (no regular file), `foreignOwner`,
  ///   `permissionsTooOpen`, `accessDenied`, `descriptorsExhausted`, `io`.
  public func load(_ vault: Identifier) throws -> [UInt8]? { try Self.read(path(of: vault)) }

  /// Compares and replaces under a lock, each file atomically; makes the directory, for this user alone. Not synced: after a power loss
  /// the anchor may be an older one, which refuses no newer state.
  /// - Throws: what `replacement` throws; as `load`; `StorageError`: `busy` if another process keeps the lock for ten seconds; `readOnly`,
  ///   `full`.
  public func update(_ vault: Identifier, _ replacement: ([UInt8]?) throws -> [UInt8]?) throws {
    try Files.makeDurableDirectory(directory)
    let lock = try OpenFile("\(directory)/lock", O_RDWR | O_CREAT)
    let turn = FileLock(on: lock.number, byte: 0)
    try turn.take(
      until: Deadline(milliseconds: Self.lockPatience), pause: LockPause(500, upTo: 500), directory,
      orThrow: StorageError(.busy, "another process writes \(directory)"))
    defer { withExtendedLifetime(lock) { turn.release() } }
    if let anchor = try replacement(load(vault)) { try Self.write(anchor, to: path(of: vault)) }
    if try lastVault() != vault.bytes { try Self.write(vault.bytes, to: notePath()) }
  }

  private static func read(_ path: String) throws -> [UInt8]? {
    guard let file = try SmallFile.open(path) else { return nil }
    var bytes = [UInt8](repeating: 0, count: Self.maximumByteCount + 1)
    let count = unsafe try bytes.withUnsafeMutableBytes { buffer in
      var span = unsafe MutableRawSpan(_unsafeBytes: buffer)
      return try file.read(into: &span)
    }
    guard count <= Self.maximumByteCount else { throw StorageError(.wrongLength, path) }
    return count == 0 ? nil : Array(bytes[..<count])
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    guard 1...Self.maximumByteCount ~= bytes.count else { throw StorageError(.wrongLength, "\(bytes.count) bytes") }
    unsafe try SmallFile.write(bytes.span.bytes, to: path, replacing: true, .notSynced)
  }
}
