internal import CofferPreferences
public import CofferPropertyLists
internal import Foundation

/// Stored as its raw value.
extension Storable where Self: RawRepresentable, RawValue: Storable {
  public func storedValue() throws -> PropertyListValue { try rawValue.storedValue() }

  public init?(storedValue: PropertyListValue) {
    guard let rawValue = RawValue(storedValue: storedValue) else { return nil }
    self.init(rawValue: rawValue)
  }

  public init?(argumentValue: PropertyListValue) {
    guard let rawValue = RawValue(argumentValue: argumentValue) else { return nil }
    self.init(rawValue: rawValue)
  }
}

/// Stored as the property list that it encodes to.
extension Storable where Self: Codable {
  public func storedValue() throws -> PropertyListValue { try StorableEncoder.encode(self) }

  public init?(storedValue: PropertyListValue) {
    guard let value = PropertyListCoding.decode(Self.self, storedValue) else { return nil }
    self = value
  }
}

/// An enum that is also Codable is stored as its raw value, which its synthesised coding gives as well.
extension Storable where Self: RawRepresentable & Codable, RawValue: Storable {
  public func storedValue() throws -> PropertyListValue { try rawValue.storedValue() }

  public init?(storedValue: PropertyListValue) {
    guard let rawValue = RawValue(storedValue: storedValue) else { return nil }
    self.init(rawValue: rawValue)
  }

  public init?(argumentValue: PropertyListValue) {
    guard let rawValue = RawValue(argumentValue: argumentValue) else { return nil }
    self.init(rawValue: rawValue)
  }
}

/// Foundation's decoder accepts no single values at the top, so the value is wrapped in an array.
enum PropertyListCoding {
  /// nil if the type cannot be decoded from the value.
  static func decode<Value: Decodable>(_ type: Value.Type, _ stored: PropertyListValue) -> Value? {
    guard !stored.hasEqualKeys, let bytes = try? PropertyList.write(.array([stored]), .binary) else { return nil }
    return try? PropertyListDecoder().decode([Value].self, from: Data(bytes)).first
  }
}

extension PropertyListValue {
  /// Whether a dictionary in the value has keys that differ only in their Unicode normal form: the decoder would read one of
  /// them, and storing the value again would lose the other.
  fileprivate var hasEqualKeys: Bool {
    switch self {
    case .array(let elements): return elements.contains { $0.hasEqualKeys }
    case .dictionary(let fields):
      var known = Set<String>()
      return fields.unsorted.contains { key, value in
        // ASCII keys that are equal are the same key.
        !key.utf8.allSatisfy { $0 < 0x80 } && !known.insert(key).inserted || value.hasEqualKeys
      }
    default: return false
    }
  }
}
