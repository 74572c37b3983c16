package import SecretMemory

/// How a secret is written into a text of another language. All work goes on in locked memory.
package enum SecretFilter: String, CaseIterable, Sendable {
  /// A string of JSON, with its quotes.
  case json
  /// A word for a shell, in single quotes.
  case sh
  /// RFC 3986: everything but the unreserved characters in percent encoding.
  case url
  /// The content of an element or of an attribute.
  case xml
  /// RFC 4648, with padding.
  case base64
  /// Without blanks and line ends before and after.
  case trim

  /// - Throws: `valueNotText`, `valueNotXML`, `valueTooLarge`; as `Secret(count:)`.
  package func apply(to secret: borrowing Secret) throws -> Secret {
    switch self {
    case .base64:
      guard secret.count <= Secret.maximumCount / 4 * 3 else { throw TextError(.valueTooLarge) }
      return try Base64.encode(secret)
    case .trim: return try secret.trimmed()
    case .url: return try secret.replacingBytes { PercentForm.strict.form(of: $0) }
    case .sh: return try secret.replacingBytes(between: "'") { Self.shellForm(of: $0) }
    case .json:
      try Self.checkIsText(secret)
      return try secret.replacingBytes(between: "\"") { JSONForm.form(of: $0) }
    case .xml:
      try Self.checkIsText(secret)
      return try Self.xml(secret)
    }
  }

  /// Within single quotes.
  static func shellForm(of byte: UInt8) -> StaticBytes? { byte == UInt8(ascii: "'") ? #"'\''"# : nil }

  /// Within `$'…'` of bash.
  static func ansiForm(of byte: UInt8) -> StaticBytes? {
    switch byte {
    case UInt8(ascii: "'"): #"\'"#
    case UInt8(ascii: "\\"): #"\\"#
    case 0x07: #"\a"#
    case 0x08: #"\b"#
    case 0x09: #"\t"#
    case 0x0A: #"\n"#
    case 0x0B: #"\v"#
    case 0x0C: #"\f"#
    case 0x0D: #"\r"#
    case 0x1B: #"\E"#
    case 0..<0x20: StaticBytes(#"\0"#, UInt8(ascii: "0") + byte >> 3, UInt8(ascii: "0") + byte & 7)
    case 0x7F: #"\177"#
    default: nil
    }
  }

  private static func checkIsText(_ secret: borrowing Secret) throws(TextError) {
    let isText = secret.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe UTF8Check.isValid($0) } }
    guard isText else { throw TextError(.valueNotText) }
  }

  private static func xml(_ secret: borrowing Secret) throws -> Secret {
    let isAllowed = secret.withBytes { bytes in
      (0..<bytes.byteCount).allSatisfy { offset in
        let byte = bytes.byte(at: offset)
        return byte >= 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
      }
    }
    guard isAllowed else { throw TextError(.valueNotXML) }
    return try secret.replacingBytes { EntityForm.own.form(of: $0) }
  }
}

/// Percent encoding of single bytes.
struct PercentForm: Equatable {
  /// The characters that stay as they are, beside the unreserved ones of RFC 3986.
  enum Kept: CaseIterable {
    case nothing
    /// The slash, as in paths.
    case slashes
    /// The further marks of RFC 2396, as in JavaScript.
    case marks
    /// None, and a blank is a plus, as in Python.
    case plus
    /// Forms of HTML: `*` stays, `~` does not, and a blank is a plus.
    case form
  }

  let kept: Kept
  let isUpper: Bool

  /// RFC 3986, with nothing but the unreserved characters.
  static let strict = PercentForm(kept: .nothing, isUpper: true)
  static let all = Kept.allCases.flatMap { kept in [true, false].map { PercentForm(kept: kept, isUpper: $0) } }

  private static let upper = Array("0123456789ABCDEF".utf8)
  private static let lower = Array("0123456789abcdef".utf8)

  func form(of byte: UInt8) -> StaticBytes? {
    switch (byte, kept) {
    case (UInt8(ascii: " "), .form), (UInt8(ascii: " "), .plus): return "+"
    case (UInt8(ascii: "~"), .form): break
    case (UInt8(ascii: "/"), .slashes), (UInt8(ascii: "*"), .form), (UInt8(ascii: "!"), .marks): return nil
    case (UInt8(ascii: "'")...UInt8(ascii: "*"), .marks): return nil
    case (UInt8(ascii: "a")...UInt8(ascii: "z"), _), (UInt8(ascii: "A")...UInt8(ascii: "Z"), _): return nil
    case (UInt8(ascii: "0")...UInt8(ascii: "9"), _), (UInt8(ascii: "-"), _), (UInt8(ascii: "."), _): return nil
    case (UInt8(ascii: "_"), _), (UInt8(ascii: "~"), _): return nil
    default: break
    }
    let digits = isUpper ? Self.upper : Self.lower
    return StaticBytes(UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)])
  }
}

/// The ways in which programs write text for HTML and XML. All replace `&`, `<` and `>`; they differ in the quotes.
enum EntityForm: CaseIterable {
  /// Neither quote, as for the content of an element.
  case content
  /// As libxml2 writes an attribute.
  case attribute
  case xml
  /// As Python and Django.
  case hexadecimal
  /// As Go and Jinja.
  case decimal
  /// As libraries of JavaScript.
  case mixed
  /// As PHP.
  case php
  /// As `mixed`, and line ends and tabs too: a parser would turn them into others, or in an attribute into blanks.
  case own

  func form(of byte: UInt8) -> StaticBytes? {
    switch (byte, self) {
    case (UInt8(ascii: "&"), _): "&amp;"
    case (UInt8(ascii: "<"), _): "&lt;"
    case (UInt8(ascii: ">"), _): "&gt;"
    case (UInt8(ascii: "\""), .content), (UInt8(ascii: "'"), .content), (UInt8(ascii: "'"), .attribute): nil
    case (UInt8(ascii: "\""), .decimal): "&#34;"
    case (UInt8(ascii: "\""), _): "&quot;"
    case (UInt8(ascii: "'"), .xml): "&apos;"
    case (UInt8(ascii: "'"), .hexadecimal): "&#x27;"
    case (UInt8(ascii: "'"), .php): "&#039;"
    case (UInt8(ascii: "'"), _): "&#39;"
    case (0x0D, .own): "&#13;"
    case (0x0A, .own): "&#10;"
    case (0x09, .own): "&#9;"
    default: nil
    }
  }
}

/// The escapes of strings in JSON, RFC 8259.
package enum JSONForm {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Hands on the bytes that stand for one byte of a text.
  package static func forEachByte<Failure: Error>(
    of byte: UInt8, _ body: (UInt8) throws(Failure) -> Void
  ) throws(Failure) {
    guard let form = form(of: byte) else { return try body(byte) }
    for index in 0..<form.count { try body(form[index]) }
  }

  /// A string, with its quotes, for a text that is not secret.
  package static func string(_ text: String) -> String {
    var bytes = [UInt8(ascii: "\"")]
    for byte in text.utf8 { forEachByte(of: byte) { bytes.append($0) } }
    return String(decoding: bytes + [UInt8(ascii: "\"")], as: UTF8.self)
  }

  static func form(of byte: UInt8) -> StaticBytes? {
    switch byte {
    case UInt8(ascii: "\""): #"\""#
    case UInt8(ascii: "\\"): #"\\"#
    case 0x0A: #"\n"#
    case 0x0D: #"\r"#
    case 0x09: #"\t"#
    case 0x08: #"\b"#
    case 0x0C: #"\f"#
    case 0..<0x20: escape(byte)
    default: nil
    }
  }

  static func escape(_ byte: UInt8) -> StaticBytes { StaticBytes("\\u00", digits[Int(byte >> 4)], digits[Int(byte & 15)]) }
}

/// Up to 7 bytes that stand for one. On the stack: an array would leave a copy of what was encoded in the heap.
struct StaticBytes: ExpressibleByStringLiteral {
  private(set) var bytes: UInt64 = 0
  private(set) var count = 0

  init(stringLiteral text: StaticString) {
    for index in 0..<text.utf8CodeUnitCount { append(unsafe text.utf8Start[index]) }
  }

  init(_ first: UInt8, _ second: UInt8, _ third: UInt8) {
    append(first)
    append(second)
    append(third)
  }

  init(_ text: StaticString, _ first: UInt8, _ second: UInt8) {
    self.init(stringLiteral: text)
    append(first)
    append(second)
  }

  private mutating func append(_ byte: UInt8) {
    bytes |= UInt64(byte) << (8 * UInt64(count))
    count += 1
  }

  subscript(index: Int) -> UInt8 { UInt8(truncatingIfNeeded: bytes >> (8 * UInt64(index))) }
}

extension Secret {
  /// The secret with some of its bytes replaced by others, and `quote` around it.
  /// - Throws: `valueTooLarge`; as `Secret(count:)`.
  borrowing func replacingBytes(between quote: StaticBytes = "", _ form: (UInt8) -> StaticBytes?) throws -> Secret {
    let count = withBytes { bytes in
      (0..<bytes.byteCount).reduce(2 * quote.count) { $0 + (form(bytes.byte(at: $1))?.count ?? 1) }
    }
    guard count <= Secret.maximumCount else { throw TextError(.valueTooLarge) }
    var result = try Secret(count: count)
    withBytes { bytes in
      result.withMutableBytes { target in
        var output = 0
        func append(_ form: StaticBytes, _ target: inout MutableRawSpan) {
          for index in 0..<form.count {
            target.storeBytes(of: form[index], toByteOffset: output, as: UInt8.self)
            output += 1
          }
        }
        append(quote, &target)
        for offset in 0..<bytes.byteCount {
          let byte = bytes.byte(at: offset)
          if let replaced = form(byte) {
            append(replaced, &target)
          } else {
            target.storeBytes(of: byte, toByteOffset: output, as: UInt8.self)
            output += 1
          }
        }
        append(quote, &target)
      }
    }
    return result
  }

  /// Where the secret begins and ends without blanks and line ends.
  borrowing func trimmedRange() -> Range<Int> {
    withBytes { bytes in
      var (start, end) = (0, bytes.byteCount)
      while start < end, Self.isBlank(bytes.byte(at: start)) { start += 1 }
      while end > start, Self.isBlank(bytes.byte(at: end - 1)) { end -= 1 }
      return start..<end
    }
  }

  borrowing func trimmed() throws -> Secret {
    let range = trimmedRange()
    return try copy(range.lowerBound, range.count)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
