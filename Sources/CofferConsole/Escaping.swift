/// `1 item`, `2 items`.
package func counted(_ count: some BinaryInteger, _ noun: String) -> String {
  count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
}

extension String {
  /// For people and for columns: what would move the cursor, end a line or change the order of reading is shown, not done.
  package func escapingControls() -> String {
    guard unicodeScalars.contains(where: { $0.isControl || $0 == "\\" }) else { return self }
    var text = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      case "\r": text += "\\r"
      case "\\": text += "\\\\"
      case _ where scalar.isControl: text += "\\u{\(String(scalar.value, radix: 16))}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// As `escapingControls`, for a text of several lines whose wording is fixed: line ends, tabs and backslashes stay.
  package func escapingControlsInLines() -> String {
    unicodeScalars.reduce(into: "") { text, scalar in
      if scalar.isControl, scalar != "\n", scalar != "\t" {
        text += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
  }
}

extension Unicode.Scalar {
  /// C0, DEL, C1, the separators of lines and paragraphs, and the marks that turn the direction of text.
  package var isControl: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0x061C: true
    default: false
    }
  }
}
