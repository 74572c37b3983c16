/// The text format of NeXTSTEP: `{ key = value; }`, `( a, b )`, `<0fbd77>`, quoted and plain strings, and comments. It has no
/// numbers: they are read as strings. A file of `key = value;` lines without braces ("strings file") is read too.
struct OpenStepPropertyListReader {
  private var scanner: TextScanner
  private var valueCount = 0

  static func read(_ bytes: ArraySlice<UInt8>) throws(PropertyListError) -> PropertyListValue {
    guard String(validating: bytes, as: UTF8.self) != nil else { throw PropertyListError(.notAPropertyList, "not UTF-8") }
    var reader = OpenStepPropertyListReader(scanner: TextScanner(bytes))
    let value = try reader.value(depth: 0)
    try reader.skipSpace()
    if !reader.scanner.isAtEnd, case .string = value {
      reader = OpenStepPropertyListReader(scanner: TextScanner(bytes))
      let dictionary = try reader.entries(depth: 0)
      try reader.skipSpace()
      guard reader.scanner.isAtEnd else { throw reader.malformed("something is left over") }
      return .dictionary(dictionary)
    }
    guard reader.scanner.isAtEnd else { throw reader.malformed("something is left over") }
    return value
  }

  private func malformed(_ detail: String) -> PropertyListError { PropertyListError(.malformed, "\(detail), \(scanner.place)") }

  private mutating func skipSpace() throws(PropertyListError) {
    while true {
      scanner.skipSpace()
      if scanner.take("//") {
        while let byte = scanner.next, byte != 0x0A, byte != 0x0D { scanner.position += 1 }
      } else if scanner.take("/*") {
        guard scanner.take(upTo: "*/") != nil else { throw malformed("a comment does not end") }
      } else {
        return
      }
    }
  }

  private mutating func value(depth: Int) throws(PropertyListError) -> PropertyListValue {
    guard depth <= PropertyList.maximumDepth else { throw PropertyListError(.tooDeep) }
    valueCount += 1
    guard valueCount <= PropertyList.maximumValueCount else { throw PropertyListError(.tooLarge, "values") }
    try skipSpace()
    switch scanner.next {
    case UInt8(ascii: "{"):
      scanner.position += 1
      let dictionary = try entries(depth: depth)
      guard scanner.take("}") else { throw malformed("no }") }
      return .dictionary(dictionary)
    case UInt8(ascii: "("):
      scanner.position += 1
      return .array(try elements(depth: depth))
    case UInt8(ascii: "<"):
      scanner.position += 1
      return .data(try data())
    default:
      return .string(try text())
    }
  }

  /// Reads entries up to the next byte that cannot begin a key, which is not consumed.
  private mutating func entries(depth: Int) throws(PropertyListError) -> PropertyListDictionary {
    var dictionary = PropertyListDictionary()
    while true {
      try skipSpace()
      guard let next = scanner.next, next != UInt8(ascii: "}") else { return dictionary }
      let key = try text()
      try skipSpace()
      if scanner.take("=") {
        dictionary[key] = try value(depth: depth + 1)
        try skipSpace()
      } else {
        // In a strings file, a key without a value is its own value.
        dictionary[key] = .string(key)
      }
      guard scanner.take(";") else { throw malformed("no ;") }
    }
  }

  private mutating func elements(depth: Int) throws(PropertyListError) -> [PropertyListValue] {
    var elements: [PropertyListValue] = []
    while true {
      try skipSpace()
      if scanner.take(")") { return elements }
      elements.append(try value(depth: depth + 1))
      try skipSpace()
      if scanner.take(")") { return elements }
      guard scanner.take(",") else { throw malformed("no , or )") }
    }
  }

  private mutating func data() throws(PropertyListError) -> [UInt8] {
    var digits: [UInt8] = []
    while let byte = scanner.next {
      scanner.position += 1
      if byte == UInt8(ascii: ">") {
        guard digits.count % 2 == 0 else { throw malformed("an odd number of digits") }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
      }
      if TextScanner.isSpace(byte) { continue }
      guard let digit = Self.digit(byte) else { throw malformed("no hexadecimal digit") }
      digits.append(digit)
    }
    throw malformed("no >")
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// The characters of CoreFoundation: letters, digits and `_$/:.-`.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "_$/:.-".utf8.contains(byte)
    }
  }

  private mutating func text() throws(PropertyListError) -> String {
    guard let quote = scanner.next else { throw malformed("ends early") }
    guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      let start = scanner.position
      while let byte = scanner.next, Self.isPlain(byte) { scanner.position += 1 }
      guard scanner.position > start else { throw malformed("no value") }
      return String(decoding: scanner.bytes[start..<scanner.position], as: UTF8.self)
    }
    scanner.position += 1
    var units: [UInt16] = []
    var run: [UInt8] = []
    func flush() {
      units += String(decoding: run, as: UTF8.self).utf16
      run = []
    }
    while let byte = scanner.next {
      scanner.position += 1
      if byte == quote {
        flush()
        guard let text = String(validating: units, as: UTF16.self) else { throw malformed("a text is not UTF-16") }
        return text
      }
      guard byte == UInt8(ascii: "\\") else {
        run.append(byte)
        continue
      }
      flush()
      units.append(try escape())
    }
    throw malformed("a quote does not end")
  }

  private mutating func escape() throws(PropertyListError) -> UInt16 {
    guard let byte = scanner.next else { throw malformed("ends early") }
    scanner.position += 1
    switch byte {
    case UInt8(ascii: "n"): return 0x0A
    case UInt8(ascii: "t"): return 0x09
    case UInt8(ascii: "r"): return 0x0D
    case UInt8(ascii: "a"): return 0x07
    case UInt8(ascii: "b"): return 0x08
    case UInt8(ascii: "f"): return 0x0C
    case UInt8(ascii: "v"): return 0x0B
    case UInt8(ascii: "U"):
      var value: UInt16 = 0
      var count = 0
      while count < 4, let next = scanner.next, let digit = Self.digit(next) {
        value = value << 4 | UInt16(digit)
        scanner.position += 1
        count += 1
      }
      guard count > 0 else { throw malformed("\\U without digits") }
      return value
    case UInt8(ascii: "0")...UInt8(ascii: "7"):
      var value = UInt16(byte - UInt8(ascii: "0"))
      var count = 1
      while count < 3, let next = scanner.next, (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(next) {
        value = value << 3 | UInt16(next - UInt8(ascii: "0"))
        scanner.position += 1
        count += 1
      }
      guard value < 0x80 else { throw malformed("an octal escape outside ASCII") }
      return value
    case let other where other < 0x80: return UInt16(other)
    default: throw malformed("an escape")
    }
  }
}
