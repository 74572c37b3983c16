public import CofferPropertyLists

extension PropertyListValue {
  /// nil unless this is an array whose elements can all be read.
  fileprivate func elements<Element>(_ read: (PropertyListValue) -> Element?) -> [Element]? {
    guard case .array(let stored) = self else { return nil }
    var elements: [Element] = []
    elements.reserveCapacity(stored.count)
    for value in stored {
      guard let element = read(value) else { return nil }
      elements.append(element)
    }
    return elements
  }

  /// nil unless this is a dictionary whose values can all be read.
  fileprivate func entries<Value>(_ read: (PropertyListValue) -> Value?) -> [String: Value]? {
    guard case .dictionary(let stored) = self else { return nil }
    var entries: [String: Value] = [:]
    for (key, value) in stored.unsorted {
      // A Swift dictionary takes keys that differ only in their Unicode normal form for one.
      guard let entry = read(value), entries.updateValue(entry, forKey: key) == nil else { return nil }
    }
    return entries
  }
}

extension Array: Storable where Element: Storable {
  public func storedValue() throws -> PropertyListValue { .array(try map { try $0.storedValue() }) }

  public init?(storedValue: PropertyListValue) {
    guard let elements = storedValue.elements({ Element(storedValue: $0) }) else { return nil }
    self = elements
  }

  public init?(argumentValue: PropertyListValue) {
    guard let elements = argumentValue.elements({ Element(argumentValue: $0) }) else { return nil }
    self = elements
  }
}

/// Stored as an array. Strings, numbers and dates are sorted, so that equal sets are mostly stored as equal values.
extension Set: Storable where Element: Storable {
  public func storedValue() throws -> PropertyListValue {
    .array(try map { try $0.storedValue() }.sorted(by: PropertyListValue.comesBefore))
  }

  public init?(storedValue: PropertyListValue) {
    guard let elements = storedValue.elements({ Element(storedValue: $0) }) else { return nil }
    self.init(elements)
  }

  public init?(argumentValue: PropertyListValue) {
    guard let elements = argumentValue.elements({ Element(argumentValue: $0) }) else { return nil }
    self.init(elements)
  }
}

extension PropertyListValue {
  /// Orders strings, numbers and dates; other values compare as equal.
  fileprivate static func comesBefore(_ left: PropertyListValue, _ right: PropertyListValue) -> Bool {
    switch (left, right) {
    case (.string(let a), .string(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
    case (.integer(let a), .integer(let b)): a < b
    case (.unsigned(let a), .unsigned(let b)): a < b
    case (.real(let a), .real(let b)), (.date(let a), .date(let b)): a.isTotallyOrdered(belowOrEqualTo: b) && a != b
    default: false
    }
  }
}

extension Dictionary: Storable where Key == String, Value: Storable {
  public func storedValue() throws -> PropertyListValue {
    var values = PropertyListDictionary(minimumCapacity: count)
    for (key, value) in self { values[key] = try value.storedValue() }
    return .dictionary(values)
  }

  public init?(storedValue: PropertyListValue) {
    guard let entries = storedValue.entries({ Value(storedValue: $0) }) else { return nil }
    self = entries
  }

  public init?(argumentValue: PropertyListValue) {
    guard let entries = argumentValue.entries({ Value(argumentValue: $0) }) else { return nil }
    self = entries
  }
}
