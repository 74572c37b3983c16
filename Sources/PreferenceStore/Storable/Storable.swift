public import CofferPropertyLists

/// A type whose values can be settings: `Bool`, `Int`, `Double`, `Float`, `String`, `Data`, `Date`, `URL`, and arrays, sets and
/// dictionaries of such values.
///
/// A type of your own needs only to declare the conformance if its raw values are `Storable`, which are stored then, or if it is
/// `Codable`; then it is stored as a property list that people and `coffer defaults` can read.
///
/// ```swift
/// enum Theme: String, Storable { case light, dark }
/// struct Window: Codable, Storable { var width = 80, height = 24 }
/// ```
public protocol Storable: Sendable {
  /// The property list value that is stored for this value.
  /// - Throws: An error if the value has no stored form.
  func storedValue() throws -> PropertyListValue

  /// Returns nil if the stored value is not one that `storedValue()` gives for this type. The stored value is left unchanged.
  init?(storedValue: PropertyListValue)

  /// Reads a value from the command line, where numbers are strings. By default the same as `init(storedValue:)`.
  init?(argumentValue: PropertyListValue)
}

extension Storable {
  public init?(argumentValue: PropertyListValue) { self.init(storedValue: argumentValue) }
}

/// Numbers are read as `as?` converts an `NSNumber`: if the conversion is exact. So a program may read `1`, written by a person,
/// as `true` or as `1.0`.
extension Bool: Storable {
  public func storedValue() -> PropertyListValue { .boolean(self) }

  public init?(storedValue: PropertyListValue) {
    switch storedValue {
    case .boolean(let value): self = value
    case .integer(0), .real(0): self = false
    case .integer(1), .real(1): self = true
    default: return nil
    }
  }

  public init?(argumentValue: PropertyListValue) {
    if case .string = argumentValue { self = argumentValue.coercedToBool } else { self.init(storedValue: argumentValue) }
  }
}

extension Int: Storable {
  public func storedValue() -> PropertyListValue { .integer(Int64(self)) }

  public init?(storedValue: PropertyListValue) {
    switch storedValue {
    case .integer(let value): self = Int(value)
    case .boolean(let value): self = value ? 1 : 0
    case .real(let value):
      guard let whole = Int(exactly: value) else { return nil }
      self = whole
    default: return nil
    }
  }

  public init?(argumentValue: PropertyListValue) {
    if case .string(let text) = argumentValue { self.init(text) } else { self.init(storedValue: argumentValue) }
  }
}

extension Double: Storable {
  public func storedValue() -> PropertyListValue { .real(self) }

  public init?(storedValue: PropertyListValue) {
    switch storedValue {
    case .real(let value): self = value
    case .boolean(let value): self = value ? 1 : 0
    case .integer(let value):
      guard let number = Double(exactly: value) else { return nil }
      self = number
    case .unsigned(let value):
      guard let number = Double(exactly: value) else { return nil }
      self = number
    default: return nil
    }
  }

  public init?(argumentValue: PropertyListValue) {
    if case .string(let text) = argumentValue { self.init(text) } else { self.init(storedValue: argumentValue) }
  }
}

/// Any number is read as the nearest `Float`.
extension Float: Storable {
  public func storedValue() -> PropertyListValue { .real(Double(self)) }

  public init?(storedValue: PropertyListValue) {
    switch storedValue {
    case .real, .boolean, .integer, .unsigned: self = storedValue.coercedToFloat
    default: return nil
    }
  }

  public init?(argumentValue: PropertyListValue) {
    if case .string(let text) = argumentValue { self.init(text) } else { self.init(storedValue: argumentValue) }
  }
}

extension String: Storable {
  public func storedValue() -> PropertyListValue { .string(self) }

  public init?(storedValue: PropertyListValue) {
    guard case .string(let text) = storedValue else { return nil }
    self = text
  }
}
