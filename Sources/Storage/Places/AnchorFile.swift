import Glibc
public import VaultCore

/// A rollback anchor in a file of its own, outside the vault. Not thread-safe; several processes may use one file.
public final class AnchorFile: AnchorStore {
  /// The longest anchor there may be.
  public static let maximumByteCount = 4096

  public let path: String

  /// Nothing is opened or made yet.
  public init(at path: String) { self.path = path }

  /// Nil where there is no file, or an empty one.
  /// - Throws: `StorageError`: `wrongLength`, `symbolicLink`, `notAVault` (no regular file), `foreignOwner`,
  ///   `permissionsTooOpen`, `accessDenied`, `descriptorsExhausted`, `io`.
  public func load() throws -> [UInt8]? {
    guard let file = try SmallFile.open(path) else { return nil }
    var bytes = [UInt8](repeating: 0, count: Self.maximumByteCount + 1)
    let count = unsafe try bytes.withUnsafeMutableBytes { buffer in
      var span = unsafe MutableRawSpan(_unsafeBytes: buffer)
      return try file.read(into: &span)
    }
    guard count <= Self.maximumByteCount else { throw StorageError(.wrongLength, path) }
    return count == 0 ? nil : Array(bytes[..<count])
  }

  /// Replaces the file atomically, and makes its directory, for this user alone. Not synced: after a power loss the anchor may be
  /// an older one, which does no harm.
  /// - Throws: `StorageError`: `wrongLength`, `readOnly`, `full`, `accessDenied`, `descriptorsExhausted`, `io`.
  public func save(_ anchor: [UInt8]) throws {
    guard 1...Self.maximumByteCount ~= anchor.count else { throw StorageError(.wrongLength, "\(anchor.count) bytes") }
    try Directories.create(Location.parent(of: path))
    unsafe try SmallFile.write(anchor.span.bytes, to: path, replacing: true, .atTheSystemsLeisure)
  }
}
