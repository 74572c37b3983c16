package import CofferPropertyLists

/// Values as `defaults` prints them: what Foundation's collections say of themselves, in the layout of old-style property lists.
package enum ValueDescription {
  /// A value by itself. A text comes as it is, in UTF-8: what was written is what is read.
  package static func text(_ value: PropertyListValue) -> String {
    switch value {
    case .string(let text): text
    case .array, .dictionary, .uid: container(value, level: 0)
    default: scalar(value)
    }
  }

  /// The text on the right side of `key = `.
  package static func element(_ value: PropertyListValue, level: Int) -> String {
    switch value {
    case .array, .dictionary, .uid: container(value, level: level)
    // Data has no quotes, although it is not plain.
    case .data: scalar(value)
    case .string(let text): quoted(text)
    default: quoted(scalar(value))
    }
  }

  private static func scalar(_ value: PropertyListValue) -> String {
    switch value {
    case .integer(let number): "\(number)"
    case .unsigned(let number): "\(number)"
    case .real(let number): number.generalText
    case .boolean(let boolean): boolean ? "1" : "0"
    case .date(let date): DateText.description(date)
    case .data(let bytes): data(bytes)
    case .string, .array, .dictionary, .uid: ""
    }
  }

  /// A collection begins with the indentation of its level even where it follows `key = ` or the indentation of an array.
  private static func container(_ value: PropertyListValue, level: Int) -> String {
    let outer = String(repeating: "    ", count: level)
    let inner = outer + "    "
    switch value {
    case .array(let elements):
      let lines = elements.map { inner + element($0, level: level + 1) }
      return outer + "(\n" + lines.joined(separator: ",\n") + (lines.isEmpty ? "" : "\n") + outer + ")"
    case .dictionary(let dictionary):
      let lines = dictionary.sorted.map { "\(inner)\(quoted($0.key)) = \(element($0.value, level: level + 1));\n" }
      return outer + "{\n" + lines.joined() + outer + "}"
    case .uid(let uid):
      var dictionary = PropertyListDictionary()
      dictionary["CF$UID"] = .integer(Int64(uid))
      return container(.dictionary(dictionary), level: level)
    default: return element(value, level: level)
    }
  }

  /// The first 16 and the last 8 of more than 24 bytes.
  private static func data(_ bytes: [UInt8]) -> String {
    func hexadecimal(_ bytes: ArraySlice<UInt8>) -> String {
      bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
    func words(_ bytes: ArraySlice<UInt8>) -> String {
      stride(from: bytes.startIndex, to: bytes.endIndex, by: 4).map { hexadecimal(bytes[$0..<$0 + 4]) }.joined(separator: " ")
    }
    guard bytes.count > 24 else { return "{length = \(bytes.count), bytes = 0x\(hexadecimal(bytes[...]))}" }
    return "{length = \(bytes.count), bytes = 0x\(words(bytes.prefix(16))) ... \(words(bytes.suffix(8))) }"
  }

  /// Plain where it has only ASCII letters and digits. Else in quotes, with escapes. `defaults` writes what comes of that in an
  /// encoding that doubles every backslash, hence two of them.
  private static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: false
      }
    }
    guard !isPlain || text.isEmpty else { return text }
    var result = "\""
    for unit in text.utf16 { result += escaped(unit) }
    return result + "\""
  }

  private static func escaped(_ unit: UInt16) -> String {
    switch unit {
    case 0x22: #"\\""#
    case 0x5C: #"\\\\"#
    case 0x07: #"\\a"#
    case 0x08: #"\\b"#
    case 0x09: #"\\t"#
    case 0x0A: #"\\n"#
    case 0x0B: #"\\v"#
    case 0x0C: #"\\f"#
    case 0x0D: #"\\r"#
    case ..<0x20, 0x7F: #"\\"# + digits(unit, radix: 8, count: 3)
    case ..<0x7F: String(UnicodeScalar(UInt8(unit)))
    default: #"\\U"# + digits(unit, radix: 16, count: 4)
    }
  }

  private static func digits(_ unit: UInt16, radix: Int, count: Int) -> String {
    let text = String(unit, radix: radix)
    return String(repeating: "0", count: count - text.utf8.count) + text
  }
}

extension PropertyListValue {
  /// As `read-type` names it.
  package var typeName: String {
    switch self {
    case .string: "string"
    case .data: "data"
    case .integer, .unsigned: "integer"
    case .real: "float"
    case .boolean: "boolean"
    case .date: "date"
    case .array: "array"
    case .dictionary, .uid: "dictionary"
    }
  }
}
