/// The reason why preferences could not be read or changed. Nothing has changed.
public struct PreferenceError: Error, Equatable, Sendable {
  /// The cause of an error.
  @nonexhaustive
  public enum Code: String, CaseIterable, Sendable {
    /// The name of a domain is empty, too long, or would lead to another directory.
    case unsafeName
    /// A key is longer than `PreferenceLimits.keyByteCount`.
    case keyTooLong
    /// A value is larger than `PreferenceLimits.valueByteCount`. The detail names its key.
    case valueTooLarge
    /// The domain would be larger than `PreferenceLimits.domainByteCount`. The detail names the key that was to be set.
    case domainTooLarge
    /// More levels of arrays and dictionaries than `PropertyList.maximumDepth`. The detail names the key.
    case valueTooDeep
    /// The value, or one inside it, cannot be in a property list. The detail is Apple's text for it.
    case notAPropertyList
    /// The value, or its key, looks like a secret, and the program's policy refuses such values. The detail has the key and the
    /// rule.
    case looksLikeSecret
    /// The property list is damaged, and there is no journal. The file is left unchanged.
    case damaged
    /// The journal was written by a newer version.
    case newerFormat
    /// The domain is read-only: it is managed, or not in a file.
    case notWritable
    /// A file of the store is a symbolic link.
    case symbolicLink
    /// A file of the store is a directory, a device or the like.
    case notAFile
    /// The file or its directory belongs to another user.
    case foreignOwner
    /// Other users may write to the directory, and so could replace every file in it.
    case permissionsTooOpen
    /// The system refuses access to the file.
    case accessDenied
    /// The file system is mounted read-only.
    case readOnly
    /// The disk, or the user's quota, is full.
    case full
    /// Another process has held the lock for longer than the deadline.
    case busy
    /// The process, or the system, has no free file descriptor.
    case descriptorsExhausted
    /// Any other error of the system.
    case io
    /// There is no home directory, or a path that must be absolute is relative.
    case noPlace

    /// The name of the cause, for messages and logs.
    public var name: String { rawValue }
  }

  /// The cause.
  public let code: Code
  /// The file or key, and the system's error. Not compared.
  public let detail: String

  /// An error with a cause, and details for people.
  public init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }

  public static func == (left: PreferenceError, right: PreferenceError) -> Bool { left.code == right.code }
}
