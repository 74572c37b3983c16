public import SecretMemory

/// The name of a set of items with a key of its own. Compared byte by byte.
public struct AccessGroup: Sendable, CustomStringConvertible {
  /// In bytes of UTF-8.
  public static let maximumByteCount = 255
  /// `default`: every vault has it.
  public static let standard = AccessGroup(unchecked: "default")

  /// The name of the group.
  public let name: String

  /// - Throws: `nameNotAllowed` (empty, or with a control character), `nameTooLong`.
  public init(_ name: String) throws(VaultError) {
    guard !name.isEmpty, !name.hasControlCharacter else { throw VaultError(.nameNotAllowed, "a group's name") }
    guard name.utf8.count <= Self.maximumByteCount else { throw VaultError(.nameTooLong, "a group's name") }
    self.name = name
  }

  /// For names that are known to be allowed.
  package init(unchecked name: String) {
    self.name = name
  }

  public var description: String { name }
}

extension AccessGroup: Hashable, Comparable {
  public static func == (left: AccessGroup, right: AccessGroup) -> Bool { left.name.order(right.name) == 0 }
  public static func < (left: AccessGroup, right: AccessGroup) -> Bool {
    left.name.order(right.name) < 0
  }
  public func hash(into hasher: inout Hasher) {
    let bytes = name.utf8.span
    // Eight bytes at a time: to mix in one takes as long.
    for start in stride(from: 0, to: bytes.count, by: 8) {
      hasher.combine((start..<min(start + 8, bytes.count)).reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[$1]) })
    }
    hasher.combine(bytes.count)
  }
}
