/// Seconds since 1970-01-01 UTC, leap seconds not counted. The core has no clock: callers say what time it is.
public struct Timestamp: Hashable, Comparable, Sendable {
  /// The time in seconds since 1970, UTC.
  public var secondsSince1970: Int64

  /// A time in seconds since 1970, UTC.
  public init(secondsSince1970: Int64) {
    self.secondsSince1970 = secondsSince1970
  }

  public static func < (left: Timestamp, right: Timestamp) -> Bool { left.secondsSince1970 < right.secondsSince1970 }
}
