/// Why a text with references, or an environment file, was refused. One code for each cause.
package struct TextError: Error, Equatable, Sendable {
  package enum Code: String, CaseIterable, Sendable {
    // Placeholders
    /// `{{` and a reference without `}}` in the same line.
    case placeholderOpen
    case referenceNotText
    case filterUnknown

    // Environment files
    case assignmentMissing
    case nameNotAllowed
    case quoteOpen
    case escapeUnknown
    case textAfterQuote
    case zeroByte

    // Values
    /// A filter for text, such as `json`, has met bytes that are not UTF-8.
    case valueNotText
    /// A control character that XML cannot hold.
    case valueNotXML
    case valueTooLarge
    /// A variable cannot hold a zero byte.
    case valueHasZeroByte
    /// More than the kernel passes in one variable.
    case variableTooLong
  }

  package let code: Code
  /// Where in the text, in bytes from its begin.
  package let offset: Int
  /// Never a part of a value.
  package let detail: String

  package init(_ code: Code, at offset: Int = 0, _ detail: String = "") {
    (self.code, self.offset, self.detail) = (code, offset, detail)
  }
}

/// A place in a text, as editors count.
package struct TextPosition: Equatable, Sendable {
  /// From 1.
  package let line: Int
  /// From 1, in characters of UTF-8.
  package let column: Int

  package init(_ offset: Int, in bytes: [UInt8]) {
    let before = bytes[..<min(offset, bytes.count)]
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    line = before.count { $0 == UInt8(ascii: "\n") } + 1
    column = before[start...].count { $0 & 0xC0 != 0x80 } + 1
  }
}
