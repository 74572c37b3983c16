internal import TextEncodings

struct XMLPropertyListWriter {
  private var bytes: [UInt8] = []
  private let isExact: Bool

  /// NaN and the infinities are written as `nan`, `+infinity` and `-infinity`, as Foundation writes and reads them.
  /// - Parameter isExact: Whether the bits of a NaN must be preserved, too.
  /// - Throws: `notRepresentable` for values that XML cannot represent: control characters, dates with fractions of a second;
  ///   `tooDeep`.
  static func write(_ value: PropertyListValue, isExact: Bool = false) throws(PropertyListError) -> [UInt8] {
    var writer = XMLPropertyListWriter(isExact: isExact)
    writer.line(0, #"<?xml version="1.0" encoding="UTF-8"?>"#)
    writer.line(0, #"<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">"#)
    writer.line(0, #"<plist version="1.0">"#)
    try writer.add(value, depth: 0)
    writer.line(0, "</plist>")
    return writer.bytes
  }

  private init(isExact: Bool) { self.isExact = isExact }

  private mutating func line(_ depth: Int, _ text: String) {
    bytes += [UInt8](repeating: UInt8(ascii: "\t"), count: depth)
    bytes += text.utf8
    bytes.append(UInt8(ascii: "\n"))
  }

  private mutating func add(_ value: PropertyListValue, depth: Int) throws(PropertyListError) {
    guard depth <= PropertyList.maximumDepth else { throw PropertyListError(.tooDeep) }
    switch value {
    case .string(let text): line(depth, "<string>\(try Self.escape(text))</string>")
    case .integer(let integer): line(depth, "<integer>\(integer)</integer>")
    case .unsigned(let integer): line(depth, "<integer>\(integer)</integer>")
    case .real(let real):
      guard !isExact || !real.isNaN || real.bitPattern == Double.nan.bitPattern else {
        throw PropertyListError(.notRepresentable, "\(real) with these bits")
      }
      line(depth, "<real>\(real.isNaN ? "nan" : real.isInfinite ? real > 0 ? "+infinity" : "-infinity" : "\(real)")</real>")
    case .boolean(let boolean): line(depth, boolean ? "<true/>" : "<false/>")
    case .date(let date):
      guard let text = PropertyListDate.format(date) else { throw PropertyListError(.notRepresentable, "a date of \(date)") }
      line(depth, "<date>\(text)</date>")
    case .data(let data):
      line(depth, "<data>")
      let encoded = Array(Base64Text.encode(data).utf8)
      for start in stride(from: 0, to: encoded.count, by: 76) {
        line(depth, String(decoding: encoded[start..<min(start + 76, encoded.count)], as: UTF8.self))
      }
      line(depth, "</data>")
    case .uid(let uid):
      line(depth, "<dict>")
      line(depth + 1, "<key>CF$UID</key>")
      line(depth + 1, "<integer>\(uid)</integer>")
      line(depth, "</dict>")
    case .array(let elements):
      guard !elements.isEmpty else { return line(depth, "<array/>") }
      line(depth, "<array>")
      for element in elements { try add(element, depth: depth + 1) }
      line(depth, "</array>")
    case .dictionary(let dictionary):
      guard !dictionary.isEmpty else { return line(depth, "<dict/>") }
      // It would be read as a UID.
      if dictionary.count == 1, case .integer(let uid)? = dictionary["CF$UID"], UInt32(exactly: uid) != nil {
        throw PropertyListError(.notRepresentable, "a dictionary that looks like a uid")
      }
      line(depth, "<dict>")
      for (key, value) in dictionary.sorted {
        line(depth + 1, "<key>\(try Self.escape(key))</key>")
        try add(value, depth: depth + 1)
      }
      line(depth, "</dict>")
    }
  }

  private static func escape(_ text: String) throws(PropertyListError) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "&": escaped += "&amp;"
      case "\t", "\n": escaped.unicodeScalars.append(scalar)
      // XML 1.0 has no other control characters, and readers turn CR into LF.
      case "\0"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": throw PropertyListError(.notRepresentable, "a control character")
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
