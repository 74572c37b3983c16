extension StorageError.Code {
  // What lies at the path
  /// No file, or no directory for it.
  public static let noVault = Self("noVault")
  /// Something is at the path already, or the log of a vault whose file is gone.
  public static let vaultExists = Self("vaultExists")
  /// Not an SQLite file, one of another program, an empty file, or no file but a directory, pipe or device.
  public static let notAVault = Self("notAVault")
  public static let newerFormat = Self("newerFormat")
  /// The draft of the format, "CFV1". The file is left as it is.
  public static let draftFormat = Self("draftFormat")
  /// The tables are not exactly those of the format.
  public static let schemaAltered = Self("schemaAltered")
  /// A column of another type or length than the format says.
  public static let columnMismatch = Self("columnMismatch")
  /// Truncated, or inconsistent as a database, or on a bad sector, which SQLite reports alike.
  public static let storageDamaged = Self("storageDamaged")
  /// Another file was put in its place, or it was removed, while it was open.
  public static let replaced = Self("replaced")
  /// Emptied, shortened, or overwritten in its first page, while it was open or while changes were in its log. The log was copied, and the
  /// detail names the copy.
  public static let truncated = Self("truncated")
  /// A small file (anchor, device key) of another length than it must have.
  public static let wrongLength = Self("wrongLength")

  // Who may write it
  public static let symbolicLink = Self("symbolicLink")
  /// The vault, which can be read but not written then, or its `.lock` file is one file under two names.
  public static let hardLink = Self("hardLink")
  /// Neither this user nor root owns the file or its directory.
  public static let foreignOwner = Self("foreignOwner")
  /// Group or others may write the file, or exchange it in its directory.
  public static let permissionsTooOpen = Self("permissionsTooOpen")
  /// The system does not let this user read it.
  public static let accessDenied = Self("accessDenied")

  // What the system could not do
  /// Another process kept the vault for longer than the caller would wait.
  public static let busy = Self("busy")
  /// No space or quota left. Nothing was changed.
  public static let full = Self("full")
  /// The file, its directory or its file system cannot be written. Nothing was changed.
  public static let readOnly = Self("readOnly")
  /// An input/output error at or after the commit: the change was made, or not. Every later call on this store fails so too,
  /// because a failed fsync cannot be repeated: open another store, and read the generation.
  public static let inDoubt = Self("inDoubt")
  /// Any other input/output error. Nothing was changed.
  public static let io = Self("io")
  public static let outOfMemory = Self("outOfMemory")
  public static let descriptorsExhausted = Self("descriptorsExhausted")

  // Places
  /// `COFFER_HOME` is not an absolute path.
  public static let relativePath = Self("relativePath")
  /// Neither the environment nor the user database names a home directory.
  public static let noHome = Self("noHome")
}
