/// The lines of a file of settings: sections in brackets, `name = value`, comments.
struct SettingsLines {
  enum Kind {
    case section(String)
    /// The value without blanks around it.
    case setting(name: String, value: Range<Int>)
    /// A line that continues the setting before it: it is indented more.
    case continuation
  }

  struct Line {
    let kind: Kind
    let number: Int
    /// Without the line end.
    let range: Range<Int>
  }

  private(set) var lines: [Line] = []

  /// - Throws: `sectionOpen`, `assignmentMissing`.
  init(_ text: SourceText, hasSections: Bool) throws {
    /// The blanks before the setting that may be continued.
    var indentation: Int?
    for (index, line) in text.lines().enumerated() {
      let range = max(line.lowerBound, text.start)..<max(line.upperBound, text.start)
      let content = text.trimmed(range)
      guard !content.isEmpty, ![UInt8(ascii: "#"), UInt8(ascii: ";")].contains(text[content.lowerBound]) else { continue }
      let blanks = content.lowerBound - range.lowerBound
      let kind: Kind
      if hasSections, let indentation, blanks > indentation {
        kind = .continuation
      } else {
        kind = try Self.kind(text, content, index + 1, hasSections: hasSections)
      }
      if case .setting = kind { indentation = blanks }
      if case .section = kind { indentation = nil }
      lines.append(Line(kind: kind, number: index + 1, range: range))
    }
  }

  private static func kind(_ text: SourceText, _ content: Range<Int>, _ number: Int, hasSections: Bool) throws -> Kind {
    if hasSections, text[content.lowerBound] == UInt8(ascii: "[") {
      guard let close = text.offset(of: UInt8(ascii: "]"), in: content) else { throw ForeignError(.sectionOpen, line: number) }
      return .section(text.text(text.trimmed(content.lowerBound + 1..<close)))
    }
    guard let equals = content.first(where: { text[$0] == UInt8(ascii: "=") || hasSections && text[$0] == UInt8(ascii: ":") })
    else {
      throw ForeignError(.assignmentMissing, line: number)
    }
    let name = text.text(text.trimmed(content.lowerBound..<equals))
    return .setting(name: name, value: text.trimmed(equals + 1..<content.upperBound))
  }
}
