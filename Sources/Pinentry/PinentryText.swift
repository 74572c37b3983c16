/// Texts for a person: text from other programs must neither look like ours nor be truncated without a notice.
package enum PinentryText {
  /// Text from another program as a single line: characters that would end it, move the cursor, are invisible, or change the
  /// writing direction are shown by their number.
  /// - Parameter limit: The maximum length in bytes as sent. The number of omitted characters is appended.
  package static func visible(_ text: String, limit: Int) -> String {
    var shown = ""
    var byteCount = 0
    for (index, scalar) in text.unicodeScalars.enumerated() {
      let piece = scalar.isHidden ? "\\u{\(String(scalar.value, radix: 16))}" : scalar == "\\" ? "\\\\" : String(scalar)
      let length = escaped(piece).utf8.count
      guard byteCount + length <= limit else { return shown + "… (\(text.unicodeScalars.count - index) more)" }
      shown += piece
      byteCount += length
    }
    return shown
  }

  /// Escapes a text as the argument of a command: a line end would begin the next command.
  static func escaped(_ text: String) -> String {
    var line = ""
    for scalar in text.unicodeScalars {
      guard scalar == "%" || scalar.value < 0x20 || scalar.value == 0x7F else {
        line.unicodeScalars.append(scalar)
        continue
      }
      let digits = String(scalar.value, radix: 16, uppercase: true)
      line += "%" + (digits.utf8.count < 2 ? "0" : "") + digits
    }
    return line
  }
}

extension Unicode.Scalar {
  /// C0, DEL, C1, line and paragraph separators, marks that change the writing direction, and characters without width.
  fileprivate var isHidden: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0, 0xAD, 0x61C, 0x180E, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFE00...0xFE0F, 0xFEFF,
      0xFFF9...0xFFFB, 0xE0000...0xE0FFF:
      true
    default: false
    }
  }
}
