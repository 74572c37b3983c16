import ProgramSecrets

/// A second implementation: it has all of the output at once and every form as an array, and compares every place with every form.
struct ReferenceMasker {
  struct Form {
    let owner: Int
    let bytes: [UInt8]
    let isWrapped: Bool
  }

  var forms: [Form] = []
  private var names: [String] = []

  mutating func add(_ secret: [UInt8], named name: String) {
    guard secret.count >= 6, Set(secret).count > 1, !names.contains(name) else { return }
    names.append(name)
    let owner = names.count - 1
    func isBlank(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
    let trimmed = Array(secret.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    for text in trimmed == secret ? [secret] : [secret, trimmed] {
      var plain = [text, text.flatMap { $0 == 10 ? [13, 10] : [$0] }]
      for digits in ["0123456789ABCDEF", "0123456789abcdef"] {
        for (kept, plus) in [("~", " "), ("~/", " "), ("~!*'()", " "), ("~", "+"), ("*", "+")] {
          let kept = Array(kept.utf8) + Self.letters
          plain.append(
            text.flatMap { byte in
              if byte == 32, plus == "+" { return Array("+".utf8) }
              return kept.contains(byte) ? [byte] : Array("%".utf8) + Self.hex([byte], digits)
            })
        }
      }
      plain.append(text.flatMap { $0 == 39 ? Array("'\\''".utf8) : [$0] })
      let control = [7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 27: "E", 39: "'", 92: "\\"] as [UInt8: String]
      plain.append(
        text.flatMap { byte -> [UInt8] in
          if let letter = control[byte] { return Array("\\\(letter)".utf8) }
          let octal = String(byte, radix: 8)
          return byte < 32 || byte == 127 ? Array("\\\(String(repeating: "0", count: 3 - octal.count))\(octal)".utf8) : [byte]
        })
      for (double, single, isWhite) in [
        ("\"", "'", false), ("&quot;", "'", false), ("&quot;", "&apos;", false), ("&quot;", "&#x27;", false),
        ("&#34;", "&#39;", false), ("&quot;", "&#39;", false), ("&quot;", "&#039;", false), ("&quot;", "&#39;", true),
      ] {
        var names = [38: "&amp;", 60: "&lt;", 62: "&gt;", 34: double, 39: single] as [UInt8: String]
        if isWhite { names.merge([13: "&#13;", 10: "&#10;", 9: "&#9;"]) { $1 } }
        plain.append(text.flatMap { byte in names[byte].map { Array($0.utf8) } ?? [byte] })
      }
      let json = text.flatMap(Self.json)
      for json in [json, Self.ascii(json)] {
        plain += [json, json.flatMap { $0 == 47 ? Array("\\/".utf8) : [$0] }]
      }
      plain.append(
        json.flatMap { "<>&".utf8.contains($0) ? Array("\\u00".utf8) + Self.hex([$0], "0123456789abcdef") : [$0] })
      var wrapped = [Self.hex(text, "0123456789abcdef"), Self.hex(text, "0123456789ABCDEF")]
      for shift in 0..<3 { for end in ["+/", "-_"] { wrapped.append(Self.base64(text, shift, end)) } }
      forms += plain.filter { $0.count >= 6 }.map { Form(owner: owner, bytes: $0, isWrapped: false) }
      forms += wrapped.filter { $0.count >= 6 }.map { Form(owner: owner, bytes: $0, isWrapped: true) }
    }
    for line in secret.split(separator: 10) {
      let line = Array(line.reversed().drop { $0 == 13 }.reversed())
      guard line.count >= 8, Set(line).count > 1 else { continue }
      forms.append(Form(owner: owner, bytes: line, isWrapped: false))
    }
  }

  private static let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._".utf8)

  /// With escapes for all other characters; bytes that are no UTF-8 stay.
  private static func ascii(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = text[...]
    while let first = rest.first {
      let length = (2...4).first { length in
        rest.count >= length && first >= 0x80 && String(validating: rest.prefix(length), as: UTF8.self)?.unicodeScalars.count == 1
      }
      let taken = rest.prefix(length ?? 1)
      if length == nil {
        result.append(first)
      } else {
        for unit in String(decoding: taken, as: UTF8.self).utf16 {
          result += Array("\\u".utf8) + hex([UInt8(unit >> 8), UInt8(unit & 255)], "0123456789abcdef")
        }
      }
      rest = rest.dropFirst(taken.count)
    }
    return result
  }

  private static func hex(_ bytes: [UInt8], _ digits: String) -> [UInt8] {
    let digits = Array(digits.utf8)
    return bytes.flatMap { [digits[Int($0) / 16], digits[Int($0) % 16]] }
  }

  private static func json(_ byte: UInt8) -> [UInt8] {
    let short: [UInt8: String] = [34: "\\\"", 92: "\\\\", 10: "\\n", 13: "\\r", 9: "\\t", 8: "\\b", 12: "\\f"]
    if let text = short[byte] { return Array(text.utf8) }
    return byte < 32 ? Array("\\u00".utf8) + hex([byte], "0123456789abcdef") : [byte]
  }

  /// The letters that do not depend on the bytes around it, if `shift` bytes come before it in its group of three.
  private static func base64(_ bytes: [UInt8], _ shift: Int, _ end: String) -> [UInt8] {
    let letters = Array(("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + end).utf8)
    let bits = (Array(repeating: 0, count: shift) + bytes).flatMap { byte in (0..<8).map { (byte >> (7 - $0)) & 1 } }
    var result: [UInt8] = []
    for start in stride(from: 0, to: bits.count - 5, by: 6) where start >= 8 * shift {
      result.append(letters[bits[start..<start + 6].reduce(0) { $0 * 2 + Int($1) }])
    }
    return result
  }

  /// How much of a form is at a place: its bytes, and where the last of them ends.
  private func match(_ form: Form, _ text: [UInt8], _ start: Int) -> (count: Int, end: Int) {
    var (count, end) = (0, start)
    while count < form.bytes.count {
      var next = end
      if form.isWrapped, count > 0 { while next < text.count, next - end < 4, [10, 13].contains(text[next]) { next += 1 } }
      guard next < text.count, text[next] == form.bytes[count] else { break }
      (count, end) = (count + 1, next + 1)
    }
    return (count, end)
  }

  func mask(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var concealed = 0
    let groups = forms.map { form in
      forms.firstIndex {
        $0.bytes.count > 256 && $0.isWrapped == form.isWrapped && $0.bytes.prefix(256) == form.bytes.prefix(256)
      }
    }
    var busy = [Int](repeating: 0, count: forms.count)
    for start in text.indices {
      var best: (count: Int, owner: Int, end: Int) = (0, .max, start)
      var ends = busy
      for (index, form) in forms.enumerated() where form.bytes[0] == text[start] {
        let group = form.bytes.count > 256 ? groups[index] : nil
        guard group.map({ busy[$0] <= start }) ?? true else { continue }
        let found = match(form, text, start)
        guard found.count >= min(256, form.bytes.count) else { continue }
        if let group { ends[group] = max(ends[group], found.end) }
        let decisive = min(256, found.count)
        best.end = max(best.end, found.end)
        if decisive > best.count || decisive == best.count && form.owner < best.owner {
          (best.count, best.owner) = (decisive, form.owner)
        }
      }
      busy = ends
      if best.owner != .max {
        if start >= concealed { result += Array("<concealed \(names[best.owner])>".utf8) }
        concealed = max(concealed, best.end)
      }
      if start >= concealed { result.append(text[start]) }
    }
    return result
  }
}
