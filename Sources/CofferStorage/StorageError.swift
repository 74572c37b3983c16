/// Why the storage refused. One code for each cause; the detail names the file and the system's reason, and never holds a secret.
public struct StorageError: Error, Equatable, Sendable {
  /// The cause of an error.
  @nonexhaustive
  public enum Code: String, CaseIterable, Sendable {
    // The file at the path
    /// No file, or no directory for it.
    case noVault
    /// A log, journal or index of a vault whose file is gone. It may hold the latest changes.
    case logWithoutVault
    /// Something is at the path already.
    case vaultExists
    /// Not an SQLite file, one of another program, an empty file, or no file but a directory, pipe or device.
    case notAVault
    /// Something else than a regular file has the name of one that a vault keeps beside it, or in the directory of state.
    case notAFile
    /// The file has a higher version than this code.
    case newerFormat
    /// A format of before, such as the draft "CFV1". The file is left as it is.
    case migrationNeeded
    /// The tables are not exactly those of the format.
    case schemaAltered
    /// A column of another type or length than the format says.
    case columnMismatch
    /// Truncated, or inconsistent as a database, or on a bad sector, which SQLite reports alike.
    case storageDamaged
    /// Another file was put in its place, or it was removed, while it was open.
    case replaced
    /// Emptied, shortened, or overwritten in its first page, while it was open or while changes were in its log. The log was
    /// copied, and the detail names the copy.
    case truncated
    /// A small file (anchor, device key) of another length than it must have.
    case wrongLength
    /// A file that is to be copied in is larger than `UnnamedVault.maximumByteCount`.
    case tooLarge

    // Permissions
    /// The path is a symbolic link.
    case symbolicLink
    /// The vault, which can be read but not written then, or its `.lock` file is one file under two names.
    case hardLink
    /// Neither this user nor root owns the file or its directory.
    case foreignOwner
    /// Group or others may write the file, or exchange it in its directory.
    case permissionsTooOpen
    /// The system does not let this user read it.
    case accessDenied

    // Errors of the system
    /// Another process kept the vault for longer than the caller would wait.
    case busy
    /// Another process restores, converts, re-keys or repairs the vault.
    case maintenance
    /// No space or quota left. Nothing was changed.
    case full
    /// The file, its directory or its file system cannot be written. Nothing was changed.
    case readOnly
    /// An input/output error at or after the commit: the change was made, or not. Every later call on this store fails so too,
    /// because a failed fsync cannot be repeated: open another store, and read the generation.
    case inDoubt
    /// Any other input/output error. Nothing was changed.
    case io
    /// Memory could not be allocated.
    case outOfMemory
    /// The process, or the system, has no free file descriptor.
    case descriptorsExhausted

    // Places
    /// `COFFER_HOME` is not an absolute path.
    case relativePath
    /// Neither the environment nor the user database names a home directory.
    case noHome

    /// The name of the cause, for messages and logs.
    public var name: String { rawValue }
  }

  /// The cause.
  public let code: Code
  /// For people: what it concerns. Not compared.
  public let detail: String

  /// An error with a cause, and details for people.
  public init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }

  public static func == (left: StorageError, right: StorageError) -> Bool { left.code == right.code }
  /// Matches `catch StorageError(.busy)`.
  public static func ~= (pattern: StorageError, error: any Error) -> Bool { (error as? StorageError) == pattern }
}

extension StorageError: CustomStringConvertible {
  public var description: String { detail.isEmpty ? code.name : "\(code.name): \(detail)" }
}
