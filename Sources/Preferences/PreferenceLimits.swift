package import PropertyLists

/// How much a store of small settings takes. Sizes are those of the stored form: texts in UTF-8, numbers and dates 8 bytes, plus one to
/// nine bytes for the type and the length of each value.
public enum PreferenceLimits {
  /// Bytes of a key in UTF-8.
  public static let keyByteCount = 4096
  /// Bytes of one value.
  public static let valueByteCount = 1 << 20
  /// Bytes of all keys and values of a domain.
  public static let domainByteCount = 4 << 20
  /// Bytes of a domain above which it is said once that this is no place for data.
  public static let noticeByteCount = 512 << 10
  /// Bytes of the name of a domain in UTF-8.
  public static let nameByteCount = 200

  /// Whether there are no more levels than `PropertyList.maximumDepth`.
  package static func allowDepth(of value: PropertyListValue) -> Bool { ValueCoding.byteCount(value) != nil }
}
