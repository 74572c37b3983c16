internal import Foundation
internal import PropertyLists

extension PropertyListValue {
  /// What is in an array or dictionary is no Optional. Numbers are of the class `NSNumber`, as on Apple's systems: `as? Float` of a
  /// stored 5 is 5 then, and of an `Int` nil.
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
  /// Of keys that differ only in their Unicode form, which a Swift dictionary takes for one, one is in it.
  var foundationDictionary: [String: Any] {
    Dictionary(unsorted.map { ($0.key, $0.value.foundationValue) }) { first, _ in first }
  }

  init(storing values: [String: Any]) throws(PreferenceError) {
    self.init()
    for edit in try PropertyListValue.edits(values) { self[edit.key] = edit.value }
  }
}
