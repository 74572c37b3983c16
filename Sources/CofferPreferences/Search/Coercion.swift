public import CofferPropertyLists

/// The conversions between types of settings, as documented in `NSUserDefaults.h`. A missing value converts as one of a type that
/// cannot be converted.
extension PropertyListValue {
  /// A string; the decimal text of a number; "1" or "0" for a Boolean. nil for other values.
  public var coercedToString: String? {
    switch self {
    case .string(let text): text
    case .integer(let value): String(value)
    case .unsigned(let value): String(value)
    case .boolean(let value): value ? "1" : "0"
    case .real(let value): Self.decimalText(value)
    case .date, .data, .array, .dictionary, .uid: nil
    }
  }

  /// Numbers are truncated to whole numbers and to the range of `Int`. A string is read as its leading number; `YES` is 1. Other
  /// values are 0.
  public var coercedToInteger: Int {
    switch self {
    case .integer(let value): Int(value)
    case .unsigned(let value): Int(clamping: value)
    case .boolean(let value): value ? 1 : 0
    case .real(let value): Self.clamped(value)
    case .string(let text): NumericText.isYes(text) ? 1 : NumericText.integer(text)
    case .date, .data, .array, .dictionary, .uid: 0
    }
  }

  /// A string is read as its leading number. Other values are 0. (According to the header Booleans are not converted; Foundation
  /// converts true to 1.)
  public var coercedToDouble: Double {
    switch self {
    case .integer(let value): Double(value)
    case .unsigned(let value): Double(value)
    case .boolean(let value): value ? 1 : 0
    case .real(let value): value
    case .string(let text): NumericText.double(text)
    case .date, .data, .array, .dictionary, .uid: 0
    }
  }

  /// The nearest `Float`; infinity if the number is too large.
  public var coercedToFloat: Float {
    switch self {
    case .integer(let value): Float(value)
    case .unsigned(let value): Float(value)
    case .real(let value): Float(value)
    default: Float(coercedToDouble)
    }
  }

  /// True for a number that is not 0, and for a string that starts with Y, y, T, t or, after a sign and zeros, with 1 to 9.
  public var coercedToBool: Bool {
    switch self {
    case .boolean(let value): value
    case .integer(let value): value != 0
    case .unsigned(let value): value != 0
    case .real(let value): value != 0
    case .string(let text): NumericText.isTrue(text)
    case .date, .data, .array, .dictionary, .uid: false
    }
  }

  /// nil unless all elements are strings: numbers are not converted.
  public var coercedToStringArray: [String]? {
    guard case .array(let elements) = self else { return nil }
    var texts: [String] = []
    texts.reserveCapacity(elements.count)
    for element in elements {
      guard case .string(let text) = element else { return nil }
      texts.append(text)
    }
    return texts
  }

  /// The shortest decimal text that reads back as the same number; if the number fits a `Float` exactly, as the same `Float`.
  private static func decimalText(_ value: Double) -> String {
    let narrow = Float(value)
    let text = Double(narrow) == value ? narrow.description : value.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  private static func clamped(_ value: Double) -> Int {
    if value.isNaN { return 0 }
    return Int(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
  }
}

/// Numbers at the start of a string, as `NSString` reads them: in the C locale, without hexadecimal numbers and `inf`.
enum NumericText {
  private static func isDigit(_ byte: UInt8?) -> Bool {
    byte.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
  }

  private static func start(_ text: String) -> Substring.UTF8View {
    text.utf8[...].drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
  }

  private static func takeSign(_ bytes: inout Substring.UTF8View) -> Bool {
    guard let first = bytes.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") else { return false }
    bytes = bytes.dropFirst()
    return first == UInt8(ascii: "-")
  }

  static func integer(_ text: String) -> Int {
    var bytes = start(text)
    let isNegative = takeSign(&bytes)
    var value = 0
    for byte in bytes {
      guard isDigit(byte) else { break }
      let digit = Int(byte - UInt8(ascii: "0"))
      let (product, productOverflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, sumOverflow) =
        isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
      if productOverflow || sumOverflow { return isNegative ? .min : .max }
      value = sum
    }
    return value
  }

  static func double(_ text: String) -> Double {
    let start = start(text)
    var rest = start
    _ = takeSign(&rest)
    var digits = rest.prefix(while: isDigit).count
    rest = rest.dropFirst(digits)
    if rest.first == UInt8(ascii: ".") {
      let fraction = rest.dropFirst().prefix(while: isDigit).count
      // "5." is 5; "." is not a number.
      if digits + fraction > 0 { rest = rest.dropFirst(1 + fraction) }
      digits += fraction
    }
    guard digits > 0 else { return 0 }
    if let mark = rest.first, mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") {
      var exponent = rest.dropFirst()
      _ = takeSign(&exponent)
      let count = exponent.prefix(while: isDigit).count
      if count > 0 { rest = exponent.dropFirst(count) }
    }
    return Double(String(decoding: start[..<rest.startIndex], as: UTF8.self)) ?? 0
  }

  static func isTrue(_ text: String) -> Bool {
    var bytes = start(text)
    _ = takeSign(&bytes)
    guard let first = bytes.drop(while: { $0 == UInt8(ascii: "0") }).first else { return false }
    return "YyTt123456789".utf8.contains(first)
  }

  static func isYes(_ text: String) -> Bool { text.utf8.elementsEqual("YES".utf8) }
}
