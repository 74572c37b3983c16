/// Why preferences could not be read or changed. Nothing has been changed.
public struct PreferenceError: Error, Equatable, Sendable {
  public struct Code: Hashable, Sendable {
    public let name: String
    init(_ name: String) { self.name = name }

    /// The name of a domain is empty, too long, or would lead to another directory.
    public static let unsafeName = Self("unsafeName")
    /// A key is longer than `PreferenceLimits.keyByteCount`.
    public static let keyTooLong = Self("keyTooLong")
    /// A value is larger than `PreferenceLimits.valueByteCount`. The detail names its key.
    public static let valueTooLarge = Self("valueTooLarge")
    /// The domain would be larger than `PreferenceLimits.domainByteCount`. The detail names the key that was to be set.
    public static let domainTooLarge = Self("domainTooLarge")
    /// More levels of arrays and dictionaries than `PropertyList.maximumDepth`. The detail names the key.
    public static let valueTooDeep = Self("valueTooDeep")
    /// The value is none that a property list can hold, or has one inside. The detail is Apple's text for it.
    public static let notAPropertyList = Self("notAPropertyList")
    /// The value, or its key, looks like a secret, and the program has asked for such values to be refused. The detail has the key and
    /// the rule.
    public static let looksLikeSecret = Self("looksLikeSecret")
    /// The property list is damaged, and so is no store. It stays as it is.
    public static let damaged = Self("damaged")
    /// A newer version has written the journal.
    public static let newerFormat = Self("newerFormat")
    /// The domain can only be read: it is managed, or in no file.
    public static let notWritable = Self("notWritable")
    /// A symbolic link lies where a file of the store should be.
    public static let symbolicLink = Self("symbolicLink")
    /// A directory, a device or the like lies where a file of the store should be.
    public static let notAFile = Self("notAFile")
    /// The file or its directory belongs to another user.
    public static let foreignOwner = Self("foreignOwner")
    /// Others may write to the directory, so that nothing in it would be safe from them.
    public static let permissionsTooOpen = Self("permissionsTooOpen")
    public static let accessDenied = Self("accessDenied")
    /// The file system is mounted read-only.
    public static let readOnly = Self("readOnly")
    /// The disk, or the user's share of it, is full.
    public static let full = Self("full")
    /// Another process has held the lock for longer than the deadline.
    public static let busy = Self("busy")
    public static let descriptorsExhausted = Self("descriptorsExhausted")
    /// The system gave an error that none of the others names.
    public static let io = Self("io")
    /// No home directory is known, or a path that must be absolute is not.
    public static let noPlace = Self("noPlace")
  }

  public let code: Code
  /// Which file or key, and what the system said. Not compared.
  public let detail: String

  public init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }

  public static func == (left: PreferenceError, right: PreferenceError) -> Bool { left.code == right.code }
}
