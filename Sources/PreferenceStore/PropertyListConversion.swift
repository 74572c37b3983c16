internal import CofferPreferences
internal import CofferPropertyLists
internal import Foundation

extension PropertyListValue {
  /// The value that `set` stores: a copy, which later changes of the original do not affect.
  /// - Throws: `notAPropertyList`, `valueTooDeep`, `valueTooLarge`.
  init(storing value: Any, forKey key: String) throws(PreferenceError) {
    if let url = value as? URL {
      self = try PropertyListValue(url: url, forKey: key)
      return
    }
    var conversion = PropertyListConversion()
    do throws(PropertyListConversion.Failure) {
      self = try conversion.convert(value, depth: 0)
    } catch {
      switch error {
      case .tooDeep: throw PreferenceError(.valueTooDeep, key)
      case .tooLarge: throw PreferenceError(.valueTooLarge, "\(key): more than \(PreferenceLimits.valueByteCount) values")
      }
    }
    // Checked last: describing a value that is also too deep would overflow the stack.
    guard !conversion.hasOther else {
      throw PreferenceError(
        .notAPropertyList, "Attempt to insert non-property list object \(BoundedDescription.of(value)) for key \(key)")
    }
  }

  /// - Throws: As `init(storing:forKey:)`, for the first key in byte order.
  static func edits(_ values: [String: Any]) throws(PreferenceError) -> [(key: String, value: PropertyListValue?)] {
    var edits: [(key: String, value: PropertyListValue?)] = []
    for (key, value) in values.sorted(by: { $0.key < $1.key }) {
      edits.append((key, try PropertyListValue(storing: value, forKey: key)))
    }
    return edits
  }
}

/// Converts a value in one pass, down to `PropertyList.maximumDepth` levels.
///
/// The type decides, not a cast: casting a Swift array to a class makes an `NSArray` of it and of all arrays in it, and casting
/// `1` to `Bool` succeeds. A container that contains itself fails with `tooDeep`. An object that several containers share is
/// converted once for each of them, up to `PreferenceLimits.valueByteCount` values.
struct PropertyListConversion {
  enum Failure: Error {
    case tooDeep
    case tooLarge
  }

  private var valueCount = 0
  /// Whether the value contained an object that no property list can hold.
  private(set) var hasOther = false

  mutating func convert(_ value: Any, depth: Int) throws(Failure) -> PropertyListValue {
    valueCount += 1
    // Each value takes at least a byte.
    guard valueCount <= PreferenceLimits.valueByteCount else { throw .tooLarge }
    switch type(of: value) {
    case is String.Type: return .string(value as? String ?? "")
    case is Int.Type: return .integer(Int64(value as? Int ?? 0))
    case is Bool.Type: return .boolean(value as? Bool ?? false)
    case is Double.Type: return .real(value as? Double ?? 0)
    case is any Wrapping.Type:
      guard let wrapped = (value as? any Wrapping)?.wrapped else { return other() }
      return try convert(wrapped, depth: depth)
    case is any SwiftArray.Type: return try array((value as? any SwiftArray)?.elements ?? [], depth)
    case is NSArray.Type: return try array(FoundationContainer.elements(of: value), depth)
    case is any SwiftDictionary.Type: return try dictionary((value as? any SwiftDictionary)?.pairs ?? [], depth)
    case is NSDictionary.Type: return try dictionary(FoundationContainer.pairs(of: value), depth)
    default: return leaf(value)
    }
  }

  private mutating func array(_ elements: [Any], _ depth: Int) throws(Failure) -> PropertyListValue {
    guard depth < PropertyList.maximumDepth else { throw .tooDeep }
    var values: [PropertyListValue] = []
    values.reserveCapacity(elements.count)
    for element in elements { values.append(try convert(element, depth: depth + 1)) }
    return .array(values)
  }

  private mutating func dictionary(_ pairs: [(key: Any, value: Any)], _ depth: Int) throws(Failure) -> PropertyListValue {
    guard depth < PropertyList.maximumDepth else { throw .tooDeep }
    var values = PropertyListDictionary(minimumCapacity: pairs.count)
    for (key, value) in pairs {
      let value = try convert(value, depth: depth + 1)
      if let key = key as? String { values[key] = value } else { hasOther = true }
    }
    return .dictionary(values)
  }

  private mutating func other() -> PropertyListValue {
    hasOther = true
    return .boolean(false)
  }

  private mutating func leaf(_ value: Any) -> PropertyListValue {
    // Only Apple's systems bridge `CGFloat` to `NSNumber`.
    if let number = value as? CGFloat { return .real(Double(number)) }
    if let data = value as? Data { return .data(Array(data)) }
    if let date = value as? Date { return .date(date.timeIntervalSinceReferenceDate) }
    // Accepts a Substring too, which Foundation's property lists refuse.
    if value is any StringProtocol || type(of: value) is NSString.Type, let text = value as? NSString {
      return .string(String(describing: text))
    }
    // A set or a slice, for example: the casts below would bridge all of its elements.
    if value is any Sequence { return other() }
    // Also bridged types: `UInt8`, `Float`, `Decimal`.
    if let number = value as? NSNumber { return PropertyListValue(number) }
    if let content = FoundationContainer.content(ofBox: value) { return leaf(content) }
    return other()
  }
}

extension PropertyListValue {
  fileprivate init(_ number: NSNumber) {
    // Foundation has exactly two Boolean objects. Their type code is that of `Int8`, so compare by identity.
    if number === NSNumber(value: true) || number === NSNumber(value: false) {
      self = .boolean(number.boolValue)
      return
    }
    switch unsafe String(cString: number.objCType) {
    case "f": self = .real(Double(number.floatValue))
    case "d": self = .real(number.doubleValue)
    case "Q", "L", "I": self = .number(number.uint64Value)
    default: self = .integer(number.int64Value)
    }
  }
}

// MARK: To Foundation

extension PropertyListValue {
  /// Elements of arrays and dictionaries are never Optionals. Numbers are `NSNumber`, as on Apple's systems: of a stored 5, `as?
  /// Float` is 5; of a Swift `Int` it would be nil.
  var foundationValue: Any {
    switch self {
    case .string(let text): text
    case .integer(let value): NSNumber(value: value)
    case .unsigned(let value): NSNumber(value: value)
    case .real(let value): NSNumber(value: value)
    case .boolean(let value): NSNumber(value: value)
    case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .data(let bytes): Data(bytes)
    case .array(let elements): elements.map(\.foundationValue)
    case .dictionary(let dictionary): dictionary.foundationDictionary
    case .uid(let number): ["CF$UID": NSNumber(value: number)]
    }
  }
}

extension PropertyListDictionary {
  /// Keys that differ only in their Unicode normal form are equal in a Swift dictionary; one of them is kept.
  var foundationDictionary: [String: Any] {
    Dictionary(unsorted.map { ($0.key, $0.value.foundationValue) }) { first, _ in first }
  }

  init(storing values: [String: Any]) throws(PreferenceError) {
    self.init()
    for edit in try PropertyListValue.edits(values) { self[edit.key] = edit.value }
  }
}
