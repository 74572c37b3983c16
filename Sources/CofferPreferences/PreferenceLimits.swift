package import CofferPropertyLists

/// The limits of a store for small settings. Sizes are those of the stored form: strings in UTF-8, numbers and dates 8 bytes,
/// plus one to nine bytes per value for its type and length.
public enum PreferenceLimits {
  /// The maximum length of a key, in bytes of UTF-8.
  public static let keyByteCount = 4096
  /// The maximum size of one value, in bytes.
  public static let valueByteCount = 1 << 20
  /// The maximum size of all keys and values of a domain, in bytes.
  public static let domainByteCount = 4 << 20
  /// The size of a domain, in bytes, above which `PreferenceEvent.large` is reported once.
  public static let noticeByteCount = 512 << 10
  /// The maximum length of a domain's name, in bytes of UTF-8.
  public static let nameByteCount = 200

  /// The limits of one domain.
  package struct OfDomain: Sendable {
    /// The maximum length of a key, in bytes of UTF-8.
    package var keyByteCount = PreferenceLimits.keyByteCount
    /// The maximum size of one value, in bytes.
    package var valueByteCount = PreferenceLimits.valueByteCount
    /// The maximum size of all keys and values, in bytes.
    package var byteCount = PreferenceLimits.domainByteCount
    /// Whether the bytes of the keys count for `byteCount`. If not, there is a limit of `keyCount`, for which all values are read.
    package var areKeysCounted = true
    /// The maximum number of keys.
    package var keyCount = Int.max

    /// The limits of a store for small settings.
    package init() {}
  }

  /// Whether the value has at most `PropertyList.maximumDepth` levels.
  package static func allowDepth(of value: PropertyListValue) -> Bool { ValueCoding.byteCount(value) != nil }
}
