internal import CofferFiles
internal import Glibc
internal import Passphrases
public import SecretMemory
public import VaultCore

/// A credential from a service manager: `coffer.key`, a key file, or `coffer.passphrase`, one line, in the directory
/// that `$CREDENTIALS_DIRECTORY` names (systemd.exec(5), `LoadCredential=`).
public enum ServiceCredentials {
  /// The variable in which a service manager passes the directory of credentials.
  public static let directoryVariable = "CREDENTIALS_DIRECTORY"
  /// The name of a key file in that directory.
  public static let keyFile = "coffer.key"
  /// The name of a file with a passphrase in that directory.
  public static let passphraseFile = "coffer.passphrase"
  /// In bytes: that of a key file.
  private static let maximumByteCount = 1 << 20

  /// Returns nil if there is none. The key file takes precedence over the passphrase, whose key derivation takes half a second.
  /// - Parameter environment: The value of a variable.
  /// - Throws: `StorageError`: `notAVault` if it is not a file, `wrongLength`, `accessDenied`, `descriptorsExhausted`, `io`.
  ///   `VaultError`: `keyFileLength` is thrown when it is used; `memoryNotLockable`, `outOfMemory`.
  public static func load(environment: (String) -> String?) throws -> Credential? {
    if let path = try path(of: keyFile, environment: environment) { return try .keyFile(read(path)) }
    guard let path = try path(of: passphraseFile, environment: environment) else { return nil }
    var passphrase = try read(path)
    passphrase.dropLineEnd()
    return try .passphrase(passphrase)
  }

  /// The path of `keyFile` or `passphraseFile`. nil if the service manager has passed no such file: the variable is not set, or
  /// does not hold an absolute path, or the directory has no file of this name.
  /// - Throws: `StorageError`, as `load`.
  package static func path(of file: String, environment: (String) -> String?) throws(StorageError) -> String? {
    guard let directory = environment(directoryVariable), directory.utf8.first == UInt8(ascii: "/") else { return nil }
    let path = Path.join(directory, file)
    guard let status = try Files.status(at: path) else { return nil }
    switch status.kind {
    case .file: break
    case .link: throw StorageError(.symbolicLink, path)
    case .directory, .other: throw StorageError(.notAVault, "\(path): no file")
    }
    guard status.size <= maximumByteCount else { throw StorageError(.wrongLength, path) }
    return path
  }

  /// The service manager's files belong to root, or to the user of the service.
  private static func read(_ path: String) throws -> Secret {
    let file = try OpenFile(path, O_RDONLY)
    // The file may have been replaced since `path(of:)`.
    let status = try file.status()
    guard status.kind == .file else { throw StorageError(.notAVault, "\(path): no file") }
    guard status.size <= maximumByteCount else { throw StorageError(.wrongLength, path) }
    return try Secret(capacity: Int(status.size)) { try file.read(into: &$0) }
  }
}

extension Secret {
  /// Drops one line end, which an editor or echo(1) has put there.
  public mutating func dropLineEnd() {
    let length = withBytes { bytes in
      func ends(_ length: Int, with byte: UInt8) -> Bool {
        guard length > 0 else { return false }
        return unsafe bytes.unsafeLoad(fromByteOffset: length - 1, as: UInt8.self) == byte
      }
      guard ends(bytes.byteCount, with: 0x0A) else { return bytes.byteCount }
      return ends(bytes.byteCount - 1, with: 0x0D) ? bytes.byteCount - 2 : bytes.byteCount - 1
    }
    truncate(to: length)
  }
}
