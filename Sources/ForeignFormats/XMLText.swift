package import ProgramSecrets

/// An element of an XML file, by its place in the text. Text leaves locked memory only as names.
package struct XMLText: Sendable {
  package let name: String
  package let attributes: [String: String]
  package let children: [XMLText]
  /// Between the tags.
  package let content: Range<Int>
  /// From 1.
  package let line: Int

  package subscript(name: String) -> XMLText? { children.first { $0.name == name } }
  package func all(_ name: String) -> [XMLText] { children.filter { $0.name == name } }
}

extension XMLText {
  /// Elements, attributes, text and comments. A document type is refused, because it may define what text means.
  /// - Throws: `notXML`, `cutOff`, `tooDeep`.
  package init(of source: SourceText) throws {
    var reader = XMLReader(source)
    self = try reader.document()
  }

  /// The text of an element, with line ends as XML has them.
  /// - Throws: `notXML`, for an entity that XML does not have; `fieldTooLarge`; as `Secret(count:)`.
  package func secret(in text: SourceText) throws -> HeldSecret {
    var value = try SecretBuilder()
    var offset = content.lowerBound
    while offset < content.upperBound {
      if text.holds("<![CDATA[", at: offset) {
        offset += 9
        while offset < content.upperBound, !text.holds("]]>", at: offset) {
          try value.append(text[offset], line: line)
          offset += 1
        }
        offset += 3
      } else if text.holds("<!--", at: offset) {
        while offset < content.upperBound, !text.holds("-->", at: offset) { offset += 1 }
        offset += 3
      } else if text[offset] == UInt8(ascii: "&") {
        let (scalar, length) = try XMLReader.entity(at: offset, text, line: line)
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { try value.append(byte, line: line) }
        offset += length
      } else {
        let isLineEnd = text[offset] == 0x0D
        try value.append(isLineEnd ? SourceText.lineFeed : text[offset], line: line)
        offset += isLineEnd && offset + 1 < content.upperBound && text[offset + 1] == SourceText.lineFeed ? 2 : 1
      }
    }
    return try value.finish()
  }

  package func text(in text: SourceText) throws -> String { try secret(in: text).text }
}

struct XMLReader {
  private static let maximumDepth = 32
  private static let longestEntity = 10

  private let text: SourceText
  private var position = 0
  private var line = 1

  init(_ text: SourceText) { self.text = text }

  mutating func document() throws -> XMLText {
    if text.holds("\u{FEFF}", at: 0) { position = 3 }
    try skipBetweenElements()
    let root = try element(depth: 0)
    try skipBetweenElements()
    guard position == text.count else { throw error }
    return root
  }

  private var error: ForeignError { ForeignError(position < text.count ? .notXML : .cutOff, line: line) }

  private mutating func advance(_ count: Int = 1) {
    for _ in 0..<count where position < text.count {
      if text[position] == SourceText.lineFeed { line += 1 }
      position += 1
    }
  }

  private mutating func skip(past end: StaticString) throws {
    while position < text.count, !text.holds(end, at: position) { advance() }
    guard position < text.count else { throw error }
    advance(end.utf8CodeUnitCount)
  }

  private mutating func skipSpace() {
    while position < text.count, SourceText.isBlank(text[position]) || text[position] == SourceText.lineFeed { advance() }
  }

  private mutating func skipBetweenElements() throws {
    while true {
      skipSpace()
      if text.holds("<!--", at: position) {
        try skip(past: "-->")
      } else if text.holds("<?", at: position) {
        try skip(past: "?>")
      } else {
        return
      }
    }
  }

  private mutating func take(_ mark: StaticString) throws {
    guard text.holds(mark, at: position) else { throw error }
    advance(mark.utf8CodeUnitCount)
  }

  private mutating func name() throws -> String {
    let start = position
    while position < text.count, Self.isName(text[position]) { position += 1 }
    guard position > start else { throw error }
    return text.text(start..<position)
  }

  private static func isName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"), 0x80...0xFF:
      true
    default: false
    }
  }

  private mutating func element(depth: Int) throws -> XMLText {
    guard depth < Self.maximumDepth else { throw ForeignError(.tooDeep, line: line) }
    let begin = line
    try take("<")
    let name = try name()
    var attributes: [String: String] = [:]
    skipSpace()
    while position < text.count, text[position] != UInt8(ascii: ">"), text[position] != UInt8(ascii: "/") {
      let (attribute, value) = try self.attribute()
      guard attributes.updateValue(value, forKey: attribute) == nil else { throw error }
      skipSpace()
    }
    if text.holds("/>", at: position) {
      advance(2)
      return XMLText(name: name, attributes: attributes, children: [], content: position..<position, line: begin)
    }
    try take(">")
    let start = position
    let children = try content(depth: depth)
    let content = start..<position
    try take("</")
    guard try self.name() == name else { throw error }
    skipSpace()
    try take(">")
    return XMLText(name: name, attributes: attributes, children: children, content: content, line: begin)
  }

  /// Ends at the closing tag.
  private mutating func content(depth: Int) throws -> [XMLText] {
    var children: [XMLText] = []
    while !text.holds("</", at: position) {
      guard position < text.count else { throw error }
      if text.holds("<!--", at: position) {
        try skip(past: "-->")
      } else if text.holds("<![CDATA[", at: position) {
        try skip(past: "]]>")
      } else if text.holds("<?", at: position) {
        try skip(past: "?>")
      } else if text[position] == UInt8(ascii: "<") {
        children.append(try element(depth: depth + 1))
      } else {
        if text[position] == UInt8(ascii: "&") { _ = try Self.entity(at: position, text, line: line) }
        advance()
      }
    }
    return children
  }

  private mutating func attribute() throws -> (name: String, value: String) {
    let name = try name()
    skipSpace()
    try take("=")
    skipSpace()
    guard position < text.count, text[position] == UInt8(ascii: "\"") || text[position] == UInt8(ascii: "'") else { throw error }
    let quote = text[position]
    advance()
    let start = position
    while position < text.count, text[position] != quote, text[position] != UInt8(ascii: "<") { advance() }
    guard position < text.count, text[position] == quote else { throw error }
    let value = text.text(start..<position)
    advance()
    return (name, value)
  }

  /// One of the five that XML has, or a character by its number.
  static func entity(at offset: Int, _ text: SourceText, line: Int) throws -> (Unicode.Scalar, Int) {
    var end = offset + 1
    while end < text.count, text[end] != UInt8(ascii: ";"), end - offset < longestEntity { end += 1 }
    guard end < text.count, text[end] == UInt8(ascii: ";") else { throw ForeignError(.notXML, line: line) }
    let name = text.text(offset + 1..<end)
    let scalar: Unicode.Scalar? =
      switch name {
      case "amp": "&"
      case "lt": "<"
      case "gt": ">"
      case "quot": "\""
      case "apos": "'"
      default:
        if name.hasPrefix("#x") {
          UInt32(name.dropFirst(2), radix: 16).flatMap(Unicode.Scalar.init)
        } else if name.hasPrefix("#") {
          UInt32(name.dropFirst()).flatMap(Unicode.Scalar.init)
        } else {
          nil
        }
      }
    guard let scalar, scalar.value != 0 else { throw ForeignError(.notXML, line: line) }
    return (scalar, end + 1 - offset)
  }
}
