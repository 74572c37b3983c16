/// The XML format, limited to Apple's PropertyList-1.0 document type. Only the five predefined entities of XML are resolved, so
/// no input expands or is fetched.
struct XMLPropertyListReader {
  private var scanner: TextScanner
  private var valueCount = 0

  static func looksLikeXML(_ bytes: ArraySlice<UInt8>) -> Bool {
    var scanner = TextScanner(bytes)
    scanner.skipSpace()
    return scanner.starts(with: "<?xml") || scanner.starts(with: "<!") || scanner.starts(with: "<plist")
  }

  static func read(_ bytes: ArraySlice<UInt8>) throws(PropertyListError) -> PropertyListValue {
    guard String(validating: bytes, as: UTF8.self) != nil else { throw PropertyListError(.malformed, "not UTF-8") }
    var reader = XMLPropertyListReader(scanner: TextScanner(bytes))
    try reader.skipProlog()
    guard let open = try reader.tag(), open.name == "plist", open.kind == .start else { throw reader.malformed("no <plist>") }
    try reader.skipMisc()
    guard let value = try reader.value(depth: 0) else { throw reader.malformed("no value") }
    try reader.expectEnd("plist")
    try reader.skipMisc()
    guard reader.scanner.isAtEnd else { throw reader.malformed("something after </plist>") }
    return value
  }

  private func malformed(_ detail: String) -> PropertyListError { PropertyListError(.malformed, "\(detail), \(scanner.place)") }

  // MARK: Between tags

  private mutating func skipProlog() throws(PropertyListError) {
    scanner.skipSpace()
    if scanner.take("<?xml"), scanner.take(upTo: "?>") == nil { throw malformed("<?xml does not end") }
    try skipMisc()
    guard scanner.take("<!DOCTYPE") else { return }
    guard let declaration = scanner.take(upTo: ">") else { throw malformed("<!DOCTYPE does not end") }
    // An internal subset could define entities.
    guard !declaration.contains(UInt8(ascii: "[")) else { throw malformed("a document type of its own") }
    try skipMisc()
  }

  /// Space, comments, processing instructions.
  private mutating func skipMisc() throws(PropertyListError) {
    while true {
      scanner.skipSpace()
      if scanner.take("<!--") {
        guard scanner.take(upTo: "-->") != nil else { throw malformed("a comment does not end") }
      } else if scanner.take("<?") {
        guard scanner.take(upTo: "?>") != nil else { throw malformed("an instruction does not end") }
      } else {
        return
      }
    }
  }

  private struct Tag {
    enum Kind { case start, end, empty }
    let name: String
    let kind: Kind
  }

  /// The tag at this position; nil if there is none.
  private mutating func tag() throws(PropertyListError) -> Tag? {
    guard scanner.next == UInt8(ascii: "<") else { return nil }
    scanner.position += 1
    let isEnd = scanner.take("/")
    guard let content = scanner.take(upTo: ">") else { throw malformed("a tag does not end") }
    let isEmpty = content.last == UInt8(ascii: "/")
    let name = content.prefix { !TextScanner.isSpace($0) && $0 != UInt8(ascii: "/") }
    guard !(isEnd && isEmpty), !content.contains(UInt8(ascii: "<")) else { throw malformed("a tag") }
    return Tag(name: String(decoding: name, as: UTF8.self), kind: isEnd ? .end : isEmpty ? .empty : .start)
  }

  private mutating func expectEnd(_ name: String) throws(PropertyListError) {
    try skipMisc()
    guard let tag = try tag(), tag.kind == .end, tag.name == name else { throw malformed("no </\(name)>") }
  }

  /// The text up to the end tag, with entities and CDATA resolved.
  private mutating func text(of name: String) throws(PropertyListError) -> String {
    var text: [UInt8] = []
    while let byte = scanner.next {
      switch byte {
      case UInt8(ascii: "<"):
        if scanner.take("<![CDATA[") {
          guard let content = scanner.take(upTo: "]]>") else { throw malformed("CDATA does not end") }
          text += content
        } else if scanner.take("<!--") {
          guard scanner.take(upTo: "-->") != nil else { throw malformed("a comment does not end") }
        } else {
          guard let tag = try tag(), tag.kind == .end, tag.name == name else { throw malformed("no </\(name)>") }
          return String(decoding: text, as: UTF8.self)
        }
      case UInt8(ascii: "&"):
        scanner.position += 1
        try entity(into: &text)
      default:
        text.append(byte)
        scanner.position += 1
      }
    }
    throw malformed("no </\(name)>")
  }

  private mutating func entity(into text: inout [UInt8]) throws(PropertyListError) {
    var name: [UInt8] = []
    while let byte = scanner.next, byte != UInt8(ascii: ";"), name.count < 12 {
      name.append(byte)
      scanner.position += 1
    }
    guard scanner.take(";") else { throw malformed("an entity does not end") }
    switch String(decoding: name, as: UTF8.self) {
    case "lt": text.append(UInt8(ascii: "<"))
    case "gt": text.append(UInt8(ascii: ">"))
    case "amp": text.append(UInt8(ascii: "&"))
    case "quot": text.append(UInt8(ascii: "\""))
    case "apos": text.append(UInt8(ascii: "'"))
    case let number where number.hasPrefix("#"):
      let isHexadecimal = number.dropFirst().first == "x"
      guard let value = UInt32(number.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10),
        let scalar = Unicode.Scalar(value), value != 0
      else { throw malformed("a character reference") }
      text += String(scalar).utf8
    default: throw malformed("an unknown entity")
    }
  }

  // MARK: Values

  /// The value at this position; nil at an end tag.
  private mutating func value(depth: Int) throws(PropertyListError) -> PropertyListValue? {
    guard depth <= PropertyList.maximumDepth else { throw PropertyListError(.tooDeep) }
    try skipMisc()
    let start = scanner
    guard let tag = try tag() else { throw malformed("a tag was expected") }
    guard tag.kind != .end else {
      scanner = start
      return nil
    }
    valueCount += 1
    guard valueCount <= PropertyList.maximumValueCount else { throw PropertyListError(.tooLarge, "values") }
    let isEmpty = tag.kind == .empty
    switch tag.name {
    case "true", "false":
      if !isEmpty { try expectEnd(tag.name) }
      return .boolean(tag.name == "true")
    case "array": return .array(isEmpty ? [] : try array(depth: depth))
    case "dict": return try isEmpty ? .dictionary(PropertyListDictionary()) : dictionary(depth: depth)
    case "string": return .string(isEmpty ? "" : try text(of: "string"))
    case "data": return .data(isEmpty ? [] : try data(try text(of: "data")))
    case "integer", "real", "date":
      guard !isEmpty else { throw malformed("<\(tag.name)/>") }
      let text = try text(of: tag.name)
      let trimmed = String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
      return try scalar(tag.name, trimmed)
    default: throw malformed("<\(tag.name.prefix(20))>")
    }
  }

  private mutating func array(depth: Int) throws(PropertyListError) -> [PropertyListValue] {
    var elements: [PropertyListValue] = []
    while let element = try value(depth: depth + 1) { elements.append(element) }
    try expectEnd("array")
    return elements
  }

  private mutating func dictionary(depth: Int) throws(PropertyListError) -> PropertyListValue {
    var dictionary = PropertyListDictionary()
    while true {
      try skipMisc()
      let start = scanner
      guard let tag = try tag() else { throw malformed("a tag was expected") }
      guard tag.kind != .end else {
        scanner = start
        break
      }
      guard tag.name == "key" else { throw malformed("no <key>") }
      let key = tag.kind == .empty ? "" : try text(of: "key")
      guard let value = try value(depth: depth + 1) else { throw malformed("no value for a key") }
      dictionary[key] = value
    }
    try expectEnd("dict")
    // The XML form of the binary format's UID type.
    if dictionary.count == 1, case .integer(let uid)? = dictionary["CF$UID"], let uid = UInt32(exactly: uid) { return .uid(uid) }
    return .dictionary(dictionary)
  }

  private func scalar(_ type: String, _ text: String) throws(PropertyListError) -> PropertyListValue {
    switch type {
    case "integer":
      let isNegative = text.hasPrefix("-")
      let digits = text.drop { $0 == "-" || $0 == "+" }
      guard text.count - digits.count <= 1 else { throw malformed("<integer>") }
      let isHexadecimal = digits.hasPrefix("0x") || digits.hasPrefix("0X")
      guard let magnitude = UInt64(digits.dropFirst(isHexadecimal ? 2 : 0), radix: isHexadecimal ? 16 : 10) else {
        throw malformed("<integer>")
      }
      guard isNegative else { return .number(magnitude) }
      guard magnitude <= 1 << 63 else { throw malformed("<integer>") }
      return .integer(Int64(truncatingIfNeeded: 0 &- magnitude))
    case "real":
      switch text.lowercased() {
      case "nan": return .real(.nan)
      case "+infinity", "infinity", "inf", "+inf": return .real(.infinity)
      case "-infinity", "-inf": return .real(-.infinity)
      default:
        guard let real = Double(text), real.isFinite else { throw malformed("<real>") }
        return .real(real)
      }
    default:
      guard let date = PropertyListDate.parse(text) else { throw malformed("<date>") }
      return .date(date)
    }
  }

  private func data(_ text: String) throws(PropertyListError) -> [UInt8] {
    var output: [UInt8] = []
    var pending: UInt32 = 0
    var bits = 0
    var isPadded = false
    for character in text.utf8 where !TextScanner.isSpace(character) {
      let value: UInt32
      switch character {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = UInt32(character - UInt8(ascii: "A"))
      case UInt8(ascii: "a")...UInt8(ascii: "z"): value = UInt32(character - UInt8(ascii: "a")) + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = UInt32(character - UInt8(ascii: "0")) + 52
      case UInt8(ascii: "+"): value = 62
      case UInt8(ascii: "/"): value = 63
      case UInt8(ascii: "="):
        isPadded = true
        continue
      default: throw malformed("<data>")
      }
      guard !isPadded else { throw malformed("<data>") }
      pending = pending << 6 | value
      bits += 6
      if bits >= 8 {
        bits -= 8
        output.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
      }
    }
    guard bits < 6 else { throw malformed("<data>") }
    return output
  }
}
