/// The description of a value for a message, or only its type if the value is large: describing a deeply nested value overflows
/// the stack.
struct BoundedDescription {
  private static let maximumDepth = 64
  private static let maximumCount = 1000

  private var count = 0

  /// As `"\(value)"`, or the name of the type.
  static func of(_ value: Any) -> String {
    var description = BoundedDescription()
    return description.isShort(value, depth: 0) ? "\(value)" : "of type \(type(of: value))"
  }

  private mutating func isShort(_ value: Any, depth: Int) -> Bool {
    count += 1
    guard depth < Self.maximumDepth, count < Self.maximumCount else { return false }
    for child in Mirror(reflecting: value).children {
      guard isShort(child.value, depth: depth + 1) else { return false }
    }
    return true
  }
}
