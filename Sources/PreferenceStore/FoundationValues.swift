internal import CofferPropertyLists
internal import Foundation

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
