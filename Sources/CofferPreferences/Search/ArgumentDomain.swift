public import CofferPropertyLists

/// The arguments of a program as settings: `-key value`.
public enum ArgumentDomain {
  /// Reads pairs of a key after a dash and a value that does not start with one; `--` ends them. A value that is a property list
  /// is read as one, so a negative number is written `"<integer>-5</integer>"`. All other values are strings. If a key is
  /// repeated, its last value is used.
  /// - Parameter arguments: The arguments without the name of the program.
  public static func parse(_ arguments: some Sequence<String>) -> PropertyListDictionary {
    var values = PropertyListDictionary()
    var key: String?
    for argument in arguments {
      if argument.utf8.elementsEqual("--".utf8) { break }
      if argument.utf8.first == UInt8(ascii: "-") {
        // A single dash is not a key; of two dashes, the second is part of the key.
        let name = argument.utf8.dropFirst()
        key = name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
      } else {
        if let key { values[key] = value(argument) }
        key = nil
      }
    }
    return values
  }

  /// A value that only looks like a property list, as in `-name "<me>"`, is a string, without a message.
  private static func value(_ argument: String) -> PropertyListValue {
    let text = trimmed(argument)
    guard let first = text.first, "{[(<\"".utf8.contains(first) else { return .string(String(decoding: text, as: UTF8.self)) }
    if let read = try? PropertyList.read(text) { return read.value }
    // The first attempt reads data such as `<0fbd77>`; `<integer>-5</integer>` lacks the outer element of an XML property list.
    if first == UInt8(ascii: "<") {
      let whole = Array("<plist version=\"1.0\">".utf8) + text + Array("</plist>".utf8)
      if let read = try? PropertyList.read(whole) { return read.value }
    }
    return .string(String(decoding: text, as: UTF8.self))
  }

  /// Removes white space and line breaks, Unicode's included, at both ends.
  private static func trimmed(_ text: String) -> [UInt8] {
    let scalars = text.unicodeScalars
    let space = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace }
    let start = scalars.drop(while: space)
    let end = start.reversed().drop(while: space)
    return Array(String(String.UnicodeScalarView(end.reversed())).utf8)
  }
}
