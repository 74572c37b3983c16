internal import Foundation
internal import Preferences
internal import PropertyLists

extension PropertyListValue {
  /// What `set` stores: a copy, so that nobody changes it afterwards.
  /// - Throws: `notAPropertyList`, `valueTooDeep`.
  init(storing value: Any, forKey key: String) throws(PreferenceError) {
    if let url = value as? URL {
      self = try PropertyListValue(url: url, forKey: key)
      return
    }
    do throws(ConversionFailure) {
      self = try PropertyListValue(value, depth: 0)
    } catch {
      throw error.error(value, key)
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

  private enum ConversionFailure: Error {
    case notAPropertyList
    case tooDeep

    func error(_ value: Any, _ key: String) -> PreferenceError {
      switch self {
      case .notAPropertyList:
        PreferenceError(.notAPropertyList, "Attempt to insert non-property list object \(value) for key \(key)")
      case .tooDeep: PreferenceError(.valueTooDeep, key)
      }
    }
  }

  /// A cast would take `1` for a Boolean and `true` for a number: the exact types come first, then the classes.
  private init(_ value: Any, depth: Int) throws(ConversionFailure) {
    guard depth <= PropertyList.maximumDepth else { throw .tooDeep }
    switch type(of: value) {
    case is String.Type: self = .string(value as? String ?? "")
    case is Int.Type: self = .integer(Int64(value as? Int ?? 0))
    case is Bool.Type: self = .boolean(value as? Bool ?? false)
    case is Double.Type: self = .real(value as? Double ?? 0)
    default:
      if let optional = value as? any AnyOptional {
        guard let wrapped = optional.wrapped else { throw .notAPropertyList }
        self = try PropertyListValue(wrapped, depth: depth)
      } else {
        self = try PropertyListValue(other: value, depth: depth)
      }
    }
  }

  private init(other value: Any, depth: Int) throws(ConversionFailure) {
    guard !ContainerDepth.isAbove(PropertyList.maximumDepth - depth, value) else { throw .tooDeep }
    // Also what is bridged to these classes: `UInt8`, `Float`, `Decimal`. `CGFloat` is so on Apple's systems alone.
    if let number = value as? CGFloat {
      self = .real(Double(number))
    } else if let number = value as? NSNumber {
      self = PropertyListValue(number)
    } else if let text = value as? NSString {
      // A Substring is bridged too, but no property list to Foundation; here it does no harm.
      self = .string(String(describing: text))
    } else if let data = value as? Data {
      self = .data(Array(data))
    } else if let date = value as? Date {
      self = .date(date.timeIntervalSinceReferenceDate)
    } else if let elements = value as? [Any] {
      var values: [PropertyListValue] = []
      values.reserveCapacity(elements.count)
      for element in elements { values.append(try PropertyListValue(element, depth: depth + 1)) }
      self = .array(values)
    } else if let dictionary = value as? [AnyHashable: Any] {
      var values = PropertyListDictionary(minimumCapacity: dictionary.count)
      for (key, value) in dictionary {
        guard let key = key.base as? String else { throw .notAPropertyList }
        values[key] = try PropertyListValue(value, depth: depth + 1)
      }
      self = .dictionary(values)
    } else {
      throw .notAPropertyList
    }
  }

  private init(_ number: NSNumber) {
    // There are exactly two Boolean objects; an `Int8`, which has the same type code elsewhere, is none of them.
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

/// Lets an `Any` be asked whether it is an Optional.
private protocol AnyOptional {
  var wrapped: Any? { get }
}

extension Optional: AnyOptional {
  fileprivate var wrapped: Any? { self }
}
