/// The reason why preferences could not be read or changed. Nothing has changed.
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
    /// The value, or one inside it, cannot be in a property list. The detail is Apple's text for it.
    public static let notAPropertyList = Self("notAPropertyList")
    /// The value, or its key, looks like a secret, and the program's policy refuses such values. The detail has the key and the
    /// rule.
    public static let looksLikeSecret = Self("looksLikeSecret")
    /// The property list is damaged, and there is no journal. The file is left unchanged.
    public static let damaged = Self("damaged")
    /// The journal was written by a newer version.
    public static let newerFormat = Self("newerFormat")
    /// The domain is read-only: it is managed, or not in a file.
    public static let notWritable = Self("notWritable")
    /// A file of the store is a symbolic link.
    public static let symbolicLink = Self("symbolicLink")
    /// A file of the store is a directory, a device or the like.
    public static let notAFile = Self("notAFile")
    /// The file or its directory belongs to another user.
    public static let foreignOwner = Self("foreignOwner")
    /// Other users may write to the directory, and so could replace every file in it.
    public static let permissionsTooOpen = Self("permissionsTooOpen")
    public static let accessDenied = Self("accessDenied")
    /// The file system is mounted read-only.
    public static let readOnly = Self("readOnly")
    /// The disk, or the user's quota, is full.
    public static let full = Self("full")
    /// Another process has held the lock for longer than the deadline.
    public static let busy = Self("busy")
    public static let descriptorsExhausted = Self("descriptorsExhausted")
    /// Any other error of the system.
    public static let io = Self("io")
    /// There is no home directory, or a path that must be absolute is relative.
    public static let noPlace = Self("noPlace")
  }

  public let code: Code
  /// The file or key, and the system's error. Not compared.
  public let detail: String

  public init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }

  public static func == (left: PreferenceError, right: PreferenceError) -> Bool { left.code == right.code }
}
