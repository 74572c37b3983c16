import CofferPropertyLists

/// Reads a dictionary of a manifest. Errors name the wrong key.
struct Fields {
  private let dictionary: PropertyListDictionary
  private let place: String

  /// - Parameter key: The key of the dictionary; nil for the whole manifest.
  init(_ dictionary: PropertyListDictionary, in key: String? = nil) {
    self.dictionary = dictionary
    place = key.map { "\($0): " } ?? ""
  }

  /// Refuses unknown keys: nothing would judge them, and they may be misspelt.
  func refuseOthers(than known: Set<String>) throws(AppsError) {
    for (key, _) in dictionary.sorted where !known.contains(where: { $0.utf8.elementsEqual(key.utf8) }) {
      throw AppsError(.manifestField, "\(place)\(key) is not known; there are \(known.sorted().joined(separator: ", "))")
    }
  }

  func text(_ key: String) throws(AppsError) -> String {
    guard let text = try optionalText(key) else { throw AppsError(.manifestField, "\(place)\(key) is missing") }
    return text
  }

  func optionalText(_ key: String) throws(AppsError) -> String? {
    switch dictionary[key] {
    case nil: return nil
    case .string(let text)?: return text
    default: throw AppsError(.manifestField, "\(place)\(key) is not text")
    }
  }

  /// A natural number, also as a string, because OpenStep property lists have no numbers.
  func natural(_ key: String) throws(AppsError) -> UInt64 {
    let number: UInt64? =
      switch dictionary[key] {
      case .integer(let value)?: UInt64(exactly: value)
      case .unsigned(let value)?: value
      case .string(let text)?: text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(text) : nil
      default: nil
      }
    guard let number else { throw AppsError(.manifestField, "\(place)\(key) must be a number from 1 on") }
    return number
  }

  /// Empty if the key is missing.
  func texts(_ key: String) throws(AppsError) -> [String] {
    var texts: [String] = []
    for value in try array(key) {
      guard case .string(let text) = value else { throw AppsError(.manifestField, "\(place)\(key) is not an array of texts") }
      texts.append(text)
    }
    return texts
  }

  func dictionaries(_ key: String) throws(AppsError) -> [Fields] {
    var fields: [Fields] = []
    for value in try array(key) {
      guard case .dictionary(let dictionary) = value else {
        throw AppsError(.manifestField, "\(place)\(key) is not an array of dictionaries")
      }
      fields.append(Fields(dictionary, in: key))
    }
    return fields
  }

  private func array(_ key: String) throws(AppsError) -> [PropertyListValue] {
    switch dictionary[key] {
    case nil: return []
    case .array(let values)?: return values
    default: throw AppsError(.manifestField, "\(place)\(key) is not an array")
    }
  }

  func values(of keys: Set<String>) -> [String: PropertyListValue] {
    var values: [String: PropertyListValue] = [:]
    for key in keys { values[key] = dictionary[key] }
    return values
  }
}
