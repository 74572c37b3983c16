/// An entry as a line of text: thirteen fields separated by tabs. Characters that would end a field or a line, or control a
/// terminal, are escaped as `\xNN`, so that no text can forge a second entry.
enum AuditLine {
  private static let fieldCount = 13
  private static let separator = UInt8(ascii: "\t")
  static let end = UInt8(ascii: "\n")
  /// Six text fields, each byte of which may take four.
  static let maximumByteCount = 6 * 4 * AuditEntry.maximumFieldByteCount + 1024

  /// The line without its digest, including the tab before it.
  static func content(_ entry: AuditEntry, number: UInt64) -> [UInt8] {
    let caller = entry.caller
    var bytes: [UInt8] = []
    for text in [
      "\(number)", "\(entry.milliseconds)", entry.decision.rawValue, entry.operation, "\(caller.user)", "\(caller.process)",
      caller.executable, caller.application, entry.application, entry.group, entry.item, entry.reason,
    ] {
      append(text, to: &bytes)
      bytes.append(separator)
    }
    return bytes
  }

  /// Returns nil if the line was not written by the log, for example if it is incomplete.
  static func read(_ line: ArraySlice<UInt8>) -> (logged: LoggedEntry, content: ArraySlice<UInt8>)? {
    let parts = line.split(separator: separator, omittingEmptySubsequences: false)
    guard parts.count == fieldCount, let digest = Hexadecimal.bytes(parts[fieldCount - 1]),
      digest.count == AuditChain.byteCount
    else { return nil }
    var texts: [String] = []
    for part in parts.dropLast() {
      guard let text = text(part) else { return nil }
      texts.append(text)
    }
    guard let number = UInt64(texts[0]), number <= AuditChain.maximumNumber, let milliseconds = Int64(texts[1]),
      let user = UInt32(texts[4]),
      let process = Int32(texts[5]), let decision = AuditEntry.Decision(rawValue: texts[2])
    else { return nil }
    let caller = AuditEntry.Caller(user: user, process: process, executable: texts[6], application: texts[7])
    let entry = AuditEntry(
      at: milliseconds, decision, texts[3], by: caller, application: texts[8], group: texts[9], item: texts[10],
      because: texts[11])
    let content = line[..<(line.endIndex - parts[fieldCount - 1].count)]
    return (LoggedEntry(number: number, entry: entry, digest: digest), content)
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    let isPlain = text.utf8.allSatisfy { 0x20..<0x7F ~= $0 && $0 != UInt8(ascii: "\\") }
    if isPlain { return bytes.append(contentsOf: text.utf8) }
    for scalar in text.unicodeScalars {
      let isEscaped = scalar == "\\" || isControl(scalar)
      for byte in String(scalar).utf8 {
        if isEscaped {
          bytes += [UInt8(ascii: "\\"), UInt8(ascii: "x")] + Hexadecimal.text([byte])
        } else {
          bytes.append(byte)
        }
      }
    }
  }

  private static func text(_ field: ArraySlice<UInt8>) -> String? {
    var bytes: [UInt8] = []
    var rest = field
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        bytes.append(byte)
        continue
      }
      guard rest.popFirst() == UInt8(ascii: "x"), let escaped = Hexadecimal.bytes(rest.prefix(2)), escaped.count == 1 else {
        return nil
      }
      rest = rest.dropFirst(2)
      bytes += escaped
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// C0, DEL, C1, line and paragraph separators, and marks that change the writing direction.
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0x061C: true
    default: false
    }
  }
}

enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  static func text(_ bytes: [UInt8]) -> [UInt8] { bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] } }

  /// Returns nil unless the text consists of pairs of lower-case digits.
  static func bytes(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    var rest = text
    while let high = rest.popFirst(), let low = rest.popFirst() {
      guard let upper = value(high), let lower = value(low) else { return nil }
      bytes.append(upper << 4 | lower)
    }
    return bytes
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
