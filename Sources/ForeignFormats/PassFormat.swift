package import ProgramSecrets
internal import SecretMemory

/// A decrypted file of pass(1): the password is the first line; the others are `name: value`, URLs for codes, and notes.
package enum PassFormat {
  private static let users: Set<String> = ["user", "username", "login"]
  private static let places: Set<String> = ["url", "uri", "website", "site", "link"]
  private static let codes: Set<String> = ["otp", "totp", "otpauth"]
  private static let longestName = 40

  /// - Parameter names: The directories in which the file lies, and its name without `.gpg`.
  /// - Throws: `fieldTooLarge`; as `Secret(count:)`.
  package static func item(of content: HeldSecret, named names: [String]) throws -> ForeignItem? {
    var entry = ForeignEntry(line: 1)
    do {
      let text = try SourceText(content.secret)
      let lines = text.lines().map { Self.withoutReturn($0, text) }
      if let first = lines.first, !first.isEmpty { entry.secret = (try text.secret(first), first) }
      try add(lines.dropFirst(), of: text, to: &entry)
    } catch let error as ForeignError where [.notUTF8, .utf16, .zeroByte].contains(error.code) {
      // Keys and other files that are no text are kept in it, too.
      entry.secret = (content, 0..<content.count)
    }
    // `github.com/ada`, or `web/github.com` with a line for the user.
    var names = names
    let last = names.popLast() ?? ""
    if entry.user.isEmpty, let service = names.popLast() {
      (entry.service, entry.user) = (service, last)
    } else {
      entry.service = last
    }
    entry.folder = names.joined(separator: "/")
    return try entry.item()
  }

  /// Whether a file is read line by line.
  package static func isText(_ content: HeldSecret) -> Bool { (try? SourceText(content.secret)) != nil }

  private static func withoutReturn(_ line: Range<Int>, _ text: SourceText) -> Range<Int> {
    !line.isEmpty && text[line.upperBound - 1] == 0x0D ? line.lowerBound..<line.upperBound - 1 : line
  }

  private static func add(_ lines: ArraySlice<Range<Int>>, of text: SourceText, to entry: inout ForeignEntry) throws {
    var notes = try SecretBuilder()
    for (index, line) in lines.enumerated() {
      if text.holds("otpauth://", at: line.lowerBound) {
        try entry.add(otp: text.secret(line))
        continue
      }
      if let (name, value) = field(line, text) {
        let key = name.lowercased()
        if users.contains(key), entry.user.isEmpty {
          entry.user = text.text(value)
        } else if places.contains(key) {
          entry.places.append(text.text(value))
        } else if codes.contains(key) {
          try entry.add(otp: text.secret(value))
        } else {
          entry.add(name, secret: try text.secret(value))
        }
        continue
      }
      if notes.count > 0 { try notes.append(SourceText.lineFeed, line: index + 2) }
      for offset in line { try notes.append(text[offset], line: index + 2) }
    }
    entry.add("notes", secret: try notes.finish())
  }

  private static func field(_ line: Range<Int>, _ text: SourceText) -> (name: String, value: Range<Int>)? {
    guard let colon = text.offset(of: UInt8(ascii: ":"), in: line), colon > line.lowerBound,
      colon - line.lowerBound <= longestName, colon + 1 == line.upperBound || SourceText.isBlank(text[colon + 1])
    else { return nil }
    let value = text.trimmed(colon + 1..<line.upperBound)
    guard !value.isEmpty else { return nil }
    return (text.text(text.trimmed(line.lowerBound..<colon)), value)
  }
}
