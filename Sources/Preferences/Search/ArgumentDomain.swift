public import PropertyLists

/// The arguments of a program as settings: `-key value`.
public enum ArgumentDomain {
  /// Pairs of a key after a dash and a value that does not start with one; `--` ends them. A value that looks like a property list is
  /// read as one, so a negative number is written `"<integer>-5</integer>"`. All others stay texts. The last of a key counts.
  /// - Parameter arguments: Without the name of the program.
  public static func parse(_ arguments: some Sequence<String>) -> PropertyListDictionary {
    var values = PropertyListDictionary()
    var key: String?
    for argument in arguments {
      if argument.utf8.elementsEqual("--".utf8) { break }
      if argument.utf8.first == UInt8(ascii: "-") {
        // One dash alone names no key; of two, the second belongs to the key.
        let name = argument.utf8.dropFirst()
        key = name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
      } else {
        if let key { values[key] = value(argument) }
        key = nil
      }
    }
    return values
  }

  /// A text that only looks like a property list is a text: nobody who writes `-name "<me>"` wants to hear of it.
  private static func value(_ argument: String) -> PropertyListValue {
    let text = trimmed(argument)
    guard let first = text.first, "{[(<\"".utf8.contains(first) else { return .string(String(decoding: text, as: UTF8.self)) }
    if let read = try? PropertyList.read(text) { return read.value }
    // `<0fbd77>` was data; `<integer>-5</integer>` is what an XML property list has inside.
    if first == UInt8(ascii: "<") {
      let whole = Array("<plist version=\"1.0\">".utf8) + text + Array("</plist>".utf8)
      if let read = try? PropertyList.read(whole) { return read.value }
    }
    return .string(String(decoding: text, as: UTF8.self))
  }

  /// Without white space and new lines, of Unicode as well as of ASCII, at both ends.
  private static func trimmed(_ text: String) -> [UInt8] {
    let scalars = text.unicodeScalars
    let space = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace }
    let start = scalars.drop(while: space)
    let end = start.reversed().drop(while: space)
    return Array(String(String.UnicodeScalarView(end.reversed())).utf8)
  }
}
