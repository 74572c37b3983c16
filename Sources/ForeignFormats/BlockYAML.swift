/// YAML of mappings and sequences by indentation, with values of one line, as kubectl writes it. Anything else is refused: a text that
/// another reader takes otherwise must not be edited.
struct BlockYAML {
  indirect enum Node {
    case mapping([Member])
    case sequence([Node])
    /// A value of one line, without quotes, blanks and escapes.
    case scalar(Range<Int>)
    /// Nothing, a value of several lines, one with escapes or with a comment behind it.
    case other
  }

  struct Member {
    let name: String
    /// From 1.
    let line: Int
    let column: Int
    /// The whole first line, with its end.
    let range: Range<Int>
    let node: Node
  }

  private struct Line {
    var column: Int
    var content: Range<Int>
    let number: Int
    let range: Range<Int>
  }

  private static let longestNesting = 32

  private let text: SourceText
  private var lines: [Line] = []
  private var next = 0
  private var depth = 0

  /// - Throws: `notationUnknown`, `memberTwice`, `tooDeep`.
  static func root(of text: SourceText) throws -> Node {
    var reader = try BlockYAML(text)
    guard let first = reader.lines.first else { return .other }
    let node = try reader.block(first.column)
    if let rest = reader.current { throw ForeignError(.notationUnknown, line: rest.number) }
    return node
  }

  private init(_ text: SourceText) throws {
    self.text = text
    for (index, range) in text.lines().enumerated() {
      let content = text.trimmed(range)
      guard !content.isEmpty else { continue }
      // A tab has no width here, and a reader may take these bytes for the end of a line.
      let isIndented = (range.lowerBound..<content.lowerBound).allSatisfy { text[$0] == UInt8(ascii: " ") }
      guard isIndented, !content.contains(where: isLineEnd) else { throw ForeignError(.notationUnknown, line: index + 1) }
      if text[content.lowerBound] == UInt8(ascii: "#") || lines.isEmpty && text.text(range) == "---" { continue }
      let end = min(range.upperBound + 1, text.count)
      lines.append(
        Line(
          column: content.lowerBound - range.lowerBound, content: content, number: index + 1, range: range.lowerBound..<end))
    }
  }

  private func isLineEnd(_ offset: Int) -> Bool {
    text[offset] == UInt8(ascii: "\r") || text.holds("\u{85}", at: offset) || text.holds("\u{2028}", at: offset)
      || text.holds("\u{2029}", at: offset)
  }

  private var current: Line? { next < lines.count ? lines[next] : nil }

  private func isEnd(_ offset: Int, of content: Range<Int>) -> Bool {
    offset >= content.upperBound || SourceText.isBlank(text[offset])
  }

  private func isItem(_ line: Line) -> Bool {
    text[line.content.lowerBound] == UInt8(ascii: "-") && isEnd(line.content.lowerBound + 1, of: line.content)
  }

  // MARK: Blocks

  private mutating func block(_ column: Int) throws -> Node {
    guard let first = current else { return .other }
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.longestNesting else { throw ForeignError(.tooDeep, line: first.number) }
    return try isItem(first) ? sequence(column) : mapping(column)
  }

  private mutating func mapping(_ column: Int) throws -> Node {
    var members: [Member] = []
    var names: Set<String> = []
    while let line = current, line.column == column, !isItem(line) {
      guard let (name, rest) = key(of: line.content) else { throw ForeignError(.notationUnknown, line: line.number) }
      guard names.insert(name).inserted else { throw ForeignError(.memberTwice, line: line.number, name) }
      next += 1
      var node = Node.other
      if !rest.isEmpty {
        node = try value(rest, line)
      } else if let inner = current, inner.column > column || inner.column == column && isItem(inner) {
        // A sequence may stand as far to the left as the name that it belongs to.
        node = try block(inner.column)
      }
      members.append(Member(name: name, line: line.number, column: column, range: line.range, node: node))
    }
    if let line = current, line.column > column { throw ForeignError(.notationUnknown, line: line.number) }
    return .mapping(members)
  }

  private mutating func sequence(_ column: Int) throws -> Node {
    var nodes: [Node] = []
    while let line = current, line.column == column, isItem(line) {
      let rest = text.trimmed(line.content.lowerBound + 1..<line.content.upperBound)
      if rest.isEmpty {
        next += 1
        if let inner = current, inner.column > column { nodes.append(try block(inner.column)) }
      } else if key(of: rest) != nil {
        lines[next].column = column + rest.lowerBound - line.content.lowerBound
        lines[next].content = rest
        nodes.append(try block(lines[next].column))
      } else {
        next += 1
        nodes.append(try value(rest, line))
      }
    }
    if let line = current, line.column > column { throw ForeignError(.notationUnknown, line: line.number) }
    return .sequence(nodes)
  }

  /// A plain name, and what stands behind its colon. Returns nil for anything else.
  private func key(of content: Range<Int>) -> (name: String, rest: Range<Int>)? {
    guard let colon = content.first(where: { text[$0] == UInt8(ascii: ":") && isEnd($0 + 1, of: content) }) else { return nil }
    let name = content.lowerBound..<colon
    let isPlain = name.allSatisfy { offset in
      let byte = text[offset]
      return "_-./".utf8.contains(byte) && offset > name.lowerBound || byte.isLetterOrDigit
    }
    guard !name.isEmpty, isPlain else { return nil }
    let rest = text.trimmed(colon + 1..<content.upperBound)
    let isComment = !rest.isEmpty && text[rest.lowerBound] == UInt8(ascii: "#")
    return (text.text(name), isComment ? rest.upperBound..<rest.upperBound : rest)
  }

  // MARK: Values

  /// - Parameter line: The line on which it begins, whose successor is the next one.
  private mutating func value(_ range: Range<Int>, _ line: Line) throws -> Node {
    switch text[range.lowerBound] {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return try quoted(range, line.number)
    case UInt8(ascii: "|"), UInt8(ascii: ">"):
      while let inner = current, inner.column > line.column { next += 1 }
      return .other
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      guard ["{}", "[]"].contains(text.text(range)) else { throw ForeignError(.notationUnknown, line: line.number) }
      return .other
    default: return try plain(range, line.number)
    }
  }

  private func quoted(_ range: Range<Int>, _ line: Int) throws -> Node {
    let quote = text[range.lowerBound]
    let hasBackslash = quote == UInt8(ascii: "\"")
    var isEscaped = false
    var offset = range.lowerBound + 1
    while offset < range.upperBound {
      if hasBackslash, text[offset] == UInt8(ascii: "\\") {
        isEscaped = true
        offset += 1
      } else if text[offset] == quote {
        guard !hasBackslash, offset + 1 < range.upperBound, text[offset + 1] == quote else { break }
        isEscaped = true
        offset += 1
      }
      offset += 1
    }
    guard offset < range.upperBound else { throw ForeignError(.notationUnknown, line: line) }
    let rest = text.trimmed(offset + 1..<range.upperBound)
    guard rest.isEmpty || rest.lowerBound > offset + 1 && text[rest.lowerBound] == UInt8(ascii: "#") else {
      throw ForeignError(.notationUnknown, line: line)
    }
    return isEscaped || !rest.isEmpty ? .other : .scalar(range.lowerBound + 1..<offset)
  }

  private func plain(_ range: Range<Int>, _ line: Int) throws -> Node {
    let first = text[range.lowerBound]
    let isIndicator = "?:-".utf8.contains(first) && isEnd(range.lowerBound + 1, of: range) || "&*!%@`,]}".utf8.contains(first)
    let hasColon = range.contains { text[$0] == UInt8(ascii: ":") && isEnd($0 + 1, of: range) }
    guard !isIndicator, !hasColon else { throw ForeignError(.notationUnknown, line: line) }
    let hasComment = range.contains { text[$0] == UInt8(ascii: "#") && SourceText.isBlank(text[$0 - 1]) }
    return hasComment || ["null", "~"].contains(text.text(range.prefix(5))) ? .other : .scalar(range)
  }
}

extension BlockYAML.Node {
  var members: [BlockYAML.Member] { if case .mapping(let members) = self { members } else { [] } }
  var elements: [BlockYAML.Node] { if case .sequence(let nodes) = self { nodes } else { [] } }
  var scalar: Range<Int>? { if case .scalar(let range) = self { range } else { nil } }

  subscript(name: String) -> BlockYAML.Node? { members.first { $0.name == name }?.node }
}

extension UInt8 {
  var isLetterOrDigit: Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
  }
}
