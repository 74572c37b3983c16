import CofferFiles
import Glibc
public import SecretMemory
import VaultCore

/// The key of this device, for items that must not leave it: 32 random bytes in a file outside the vault and its backups.
///
/// Read and written between the file and locked memory, with no copy in between. Thread-safe.
public struct DeviceKeyFile: Sendable {
  /// The length of a device key, in bytes.
  public static let byteCount = 32

  /// The path of the file.
  public let path: String

  /// The file at a path.
  public init(at path: String) { self.path = path }

  /// Returns nil if there is no file.
  /// - Throws: `StorageError`: `wrongLength`, `symbolicLink`, `notAFile`, `foreignOwner`, `permissionsTooOpen`
  ///   (others may read or write it), `accessDenied`, `descriptorsExhausted`, `io`. `VaultError`: `memoryNotLockable`,
  ///   `outOfMemory`.
  public func load() throws -> Secret? {
    guard let file = try SmallFile.open(path) else { return nil }
    // Unlike a vault it is not sealed, so no other user may even read it.
    guard try file.status().mode & 0o077 == 0 else { throw StorageError(.permissionsTooOpen, "\(path) may be read by others") }
    let key = try Secret(capacity: Self.byteCount + 1) { try file.read(into: &$0) }
    guard key.count == Self.byteCount else { throw StorageError(.wrongLength, path) }
    return key
  }

  /// Makes a key if there is none. An existing key is never replaced, because items that were sealed with it would be lost.
  /// - Returns: Whether it is a new one.
  /// - Throws: as `load` and `create`.
  @discardableResult public func createUnlessThere() throws -> Bool {
    guard try load() == nil else { return false }
    do {
      try create(Secret.random(count: Self.byteCount))
      return true
    } catch let error as StorageError where error.code == .vaultExists {
      return false  // Another process was faster.
    }
  }

  /// Makes the file, and its directory, for this user alone; durable when the call returns. It never replaces a key: items that
  /// were sealed with that one would be lost.
  /// - Throws: `StorageError`: `vaultExists` if there is a key, `wrongLength`, `readOnly`, `full`, `accessDenied`, `io`.
  public func create(_ key: borrowing Secret) throws {
    try write(key, replacing: false)
  }

  func write(_ key: borrowing Secret, replacing: Bool) throws {
    guard key.count == Self.byteCount else { throw StorageError(.wrongLength, "\(key.count) bytes") }
    try Files.makeDurableDirectory(Path.parent(of: path))
    let path = path
    try key.withBytes { bytes throws(StorageError) in try SmallFile.write(bytes, to: path, replacing: replacing, .durable) }
  }
}
