import SecretMemory

/// PAD of the format: hides the length of a field within its bucket. Section 1.2 of FORMAT.md.
package enum Padding {
  /// The most bytes a field may hold: 1 MiB.
  package static let maximumCount = 1 << 20
  private static let buckets = [128, 256, 512, 1024, 2048, 4096]

  /// The length of a field of `count` bytes once padded: the smallest bucket that is larger.
  static func paddedCount(_ count: Int) -> Int {
    buckets.first { $0 > count } ?? (count / 4096 + 1) * 4096
  }

  /// Whether a padded field can have this length.
  static func isPaddedCount(_ count: Int) -> Bool {
    count <= 4096 ? buckets.contains(count) : count % 4096 == 0 && count <= paddedCount(maximumCount)
  }

  /// - Throws: `secretTooLarge`.
  static func pad(_ field: borrowing Secret) throws(VaultError) -> Secret {
    guard field.count <= maximumCount else { throw VaultError(.secretTooLarge, "\(field.count) bytes") }
    var padded = try Secret(count: paddedCount(field.count))
    padded.write(field, at: 0)
    padded.write(0x80, at: field.count)
    return padded
  }

  /// - Throws: `paddingNotCanonical`.
  static func unpad(_ padded: consuming Secret) throws(VaultError) -> Secret {
    var field = padded
    var end = field.count
    while end > 0 && field.byte(at: end - 1) == 0 { end -= 1 }
    guard end > 0, field.byte(at: end - 1) == 0x80, paddedCount(end - 1) == field.count, end - 1 <= maximumCount else {
      throw VaultError(.paddingNotCanonical)
    }
    field.truncate(to: end - 1)
    return field
  }
}
