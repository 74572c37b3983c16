/// A value that describes an item. Sealed in the file, but not kept in locked memory: secrets do not belong here.
public enum AttributeValue: Equatable, Sendable {
  /// UTF-8.
  case text(String)
  /// Bytes.
  case data([UInt8])
  /// An unsigned integer.
  case integer(UInt64)
  /// A time.
  case time(Timestamp)

  /// Values that are the same bytes. (`String` compares characters, and would take é for e with an accent.)
  public static func == (left: AttributeValue, right: AttributeValue) -> Bool {
    switch (left, right) {
    case (.text(let left), .text(let right)): left.order(right) == 0
    case (.data(let left), .data(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.time(let left), .time(let right)): left == right
    default: false
    }
  }
}

/// Names and values, ordered by the bytes of the names.
public struct Attributes: Equatable, Sendable, Sequence {
  /// In bytes of UTF-8.
  public static let maximumNameByteCount = 255
  /// In bytes.
  public static let maximumValueByteCount = 65_536

  private var entries: [(name: String, value: AttributeValue)] = []

  /// No attributes.
  public init() {}

  init(reserving count: Int) { entries.reserveCapacity(count) }

  /// Names are compared byte by byte. Setting nil removes the attribute.
  public subscript(name: String) -> AttributeValue? {
    get {
      let index = position(of: name)
      return index.isFound ? entries[index.at].value : nil
    }
    set {
      let index = position(of: name)
      switch (newValue, index.isFound) {
      case (let value?, true): entries[index.at].value = value
      case (let value?, false) where index.at == entries.count: entries.append((name: name, value: value))
      case (let value?, false): entries.insert((name: name, value: value), at: index.at)
      case (nil, true): entries.remove(at: index.at)
      case (nil, false): break
      }
    }
  }

  private func position(of name: String) -> (at: Int, isFound: Bool) {
    // Decoding yields the attributes in order.
    guard let last = entries.last, last.name.order(name) >= 0 else { return (entries.count, false) }
    var (low, high) = (0, entries.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].name.order(name) < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, entries[low].name.order(name) == 0)
  }

  public func makeIterator() -> IndexingIterator<[(name: String, value: AttributeValue)]> { entries.makeIterator() }

  /// The number of attributes.
  public var count: Int { entries.count }

  public static func == (left: Attributes, right: Attributes) -> Bool {
    left.entries.count == right.entries.count
      && zip(left, right).allSatisfy { $0.name.order($1.name) == 0 && $0.value == $1.value }
  }
}

extension String {
  /// Below zero where the bytes of UTF-8 come before those of `other`, zero where they are the same.
  package func order(_ other: String) -> Int {
    let (left, right) = (utf8.span, other.utf8.span)
    for index in 0..<min(left.count, right.count) where left[index] != right[index] {
      return Int(left[index]) - Int(right[index])
    }
    return left.count - right.count
  }

  /// Control characters (U+0000–1F, U+007F) are refused in names: they forge lines on terminals and in lists.
  package var hasControlCharacter: Bool { utf8.contains { $0 < 0x20 || $0 == 0x7F } }
}
