/// A value that a property list can hold. Types stay what they were: a Boolean is no integer, an integer no real number.
public enum PropertyListValue: Sendable {
  case string(String)
  case integer(Int64)
  /// Only for what is larger than `Int64.max`.
  case unsigned(UInt64)
  case real(Double)
  case boolean(Bool)
  /// Seconds since 2001-01-01 00:00:00 UTC, as Foundation and the binary format count them.
  case date(Double)
  case data([UInt8])
  case array([PropertyListValue])
  case dictionary(PropertyListDictionary)
  /// A reference inside a keyed archive. Binary property lists have a type for it, the others write `{CF$UID = n}`.
  case uid(UInt32)

  /// The integer in the smaller of the two cases.
  public static func number(_ value: UInt64) -> PropertyListValue {
    Int64(exactly: value).map { .integer($0) } ?? .unsigned(value)
  }
}

extension PropertyListValue: Equatable {
  /// Bit for bit: texts by their bytes, and a NaN is the same NaN. What is equal need not be written again.
  public static func == (left: PropertyListValue, right: PropertyListValue) -> Bool {
    switch (left, right) {
    case (.string(let a), .string(let b)): TextBytes.areEqual(a, b)
    case (.integer(let a), .integer(let b)): a == b
    case (.unsigned(let a), .unsigned(let b)): a == b
    case (.real(let a), .real(let b)): a.bitPattern == b.bitPattern
    case (.boolean(let a), .boolean(let b)): a == b
    case (.date(let a), .date(let b)): a.bitPattern == b.bitPattern
    case (.data(let a), .data(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.dictionary(let a), .dictionary(let b)): a == b
    case (.uid(let a), .uid(let b)): a == b
    default: false
    }
  }
}

/// Keys and values, in the byte order of the keys. Two keys that differ only in their Unicode normal form are two keys, as they are
/// to Foundation; a Swift dictionary would take them for one.
public struct PropertyListDictionary: Sendable, Equatable {
  public struct Key: Hashable, Sendable, Comparable {
    public let name: String
    private let digest: UInt64

    public init(_ name: String) {
      self.name = name
      digest = TextBytes.digest(name)
    }

    public static func == (left: Key, right: Key) -> Bool {
      left.digest == right.digest && TextBytes.areEqual(left.name, right.name)
    }
    public static func < (left: Key, right: Key) -> Bool { TextBytes.precedes(left.name, right.name) }
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
  }

  private var values: [Key: PropertyListValue] = [:]

  public init() {}

  public init(minimumCapacity: Int) { values.reserveCapacity(minimumCapacity) }

  public subscript(name: String) -> PropertyListValue? {
    get { values[Key(name)] }
    set { values[Key(name)] = newValue }
  }

  public subscript(key: Key) -> PropertyListValue? {
    get { values[key] }
    set { values[key] = newValue }
  }

  /// - Returns: What was there before.
  @discardableResult public mutating func update(_ key: Key, to value: PropertyListValue?) -> PropertyListValue? {
    guard let value else { return values.removeValue(forKey: key) }
    return values.updateValue(value, forKey: key)
  }

  public var count: Int { values.count }
  public var isEmpty: Bool { values.isEmpty }
  /// In the byte order of the keys.
  public var sorted: [(key: String, value: PropertyListValue)] {
    values.sorted { $0.key < $1.key }.map { ($0.key.name, $0.value) }
  }
  /// In no order.
  public var unsorted: some Sequence<(key: String, value: PropertyListValue)> { values.lazy.map { ($0.key.name, $0.value) } }
  /// In no order.
  public var entries: some Sequence<(key: Key, value: PropertyListValue)> { values.lazy.map { ($0.key, $0.value) } }
  /// In no order.
  public var keys: some Sequence<String> { values.keys.lazy.map(\.name) }
}
