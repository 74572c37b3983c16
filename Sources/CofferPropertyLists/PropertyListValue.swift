/// A value of a property list. Types are kept: a Boolean is not an integer, and an integer is not a real number.
public enum PropertyListValue: Sendable {
  /// A text.
  case string(String)
  /// A signed integer.
  case integer(Int64)
  /// Used only for numbers above `Int64.max`.
  case unsigned(UInt64)
  /// A floating-point number.
  case real(Double)
  /// True or false.
  case boolean(Bool)
  /// Seconds since 2001-01-01 00:00:00 UTC, as Foundation and the binary format count them.
  case date(Double)
  /// Bytes.
  case data([UInt8])
  /// An array of values.
  case array([PropertyListValue])
  /// A dictionary with strings as keys.
  case dictionary(PropertyListDictionary)
  /// A reference inside a keyed archive. Binary property lists have a type for it, the others write `{CF$UID = n}`.
  case uid(UInt32)

  /// An integer, as `unsigned` only if it is above `Int64.max`.
  public static func number(_ value: UInt64) -> PropertyListValue {
    Int64(exactly: value).map { .integer($0) } ?? .unsigned(value)
  }
}

extension PropertyListValue: Equatable {
  /// Bitwise equality: strings by their bytes, and a NaN equals the same NaN. A value equal to the stored one need not be
  /// written.
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

/// Keys and values, in the byte order of the keys. Keys that differ only in their Unicode normal form are distinct, as in
/// Foundation's dictionaries; in a Swift dictionary they would be equal.
public struct PropertyListDictionary: Sendable, Equatable {
  /// A key with the digest of its bytes, so that a repeated look-up does not hash it again.
  public struct Key: Hashable, Sendable, Comparable {
    /// The key as a string.
    public let name: String
    private let digest: UInt64

    /// Computes the digest of the key.
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

  /// An empty dictionary.
  public init() {}

  /// An empty dictionary with room for so many keys.
  public init(minimumCapacity: Int) { values.reserveCapacity(minimumCapacity) }

  /// The value of a key; nil if it has none. Setting nil removes the key.
  public subscript(name: String) -> PropertyListValue? {
    get { values[Key(name)] }
    set { values[Key(name)] = newValue }
  }

  /// The value of a key; nil if it has none. Setting nil removes the key.
  public subscript(key: Key) -> PropertyListValue? {
    get { values[key] }
    set { values[key] = newValue }
  }

  /// - Returns: The previous value.
  @discardableResult public mutating func update(_ key: Key, to value: PropertyListValue?) -> PropertyListValue? {
    guard let value else { return values.removeValue(forKey: key) }
    return values.updateValue(value, forKey: key)
  }

  /// The number of keys.
  public var count: Int { values.count }
  /// Whether the dictionary has no keys.
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
