internal import ProgramSecrets
internal import VaultCore

/// `.netrc`, as ftp(1) and curl(1) read it. The items are found by git too: the service is the host.
package enum NetrcFormat {
  /// - Throws: `tokenUnknown`, `cutOff`, `quoteOpen`, `fieldTooLarge`.
  package static func items(of text: SourceText) throws -> ForeignItems {
    var reader = NetrcReader(text)
    return try reader.items()
  }
}

private struct NetrcReader {
  private let text: SourceText
  private var position = 0
  private var line = 1
  private var result = ForeignItems()
  private var entry: Entry?
  private var seen: Set<[UInt8]> = []

  private struct Entry {
    /// nil: any host.
    let machine: String?
    let line: Int
    var login = ""
    var account: String?
    var password: (secret: HeldSecret, value: Range<Int>)?
  }

  /// A word, without the quotes that curl takes.
  private struct Word {
    let range: Range<Int>
    let line: Int
    let quoted: HeldSecret?
  }

  init(_ text: SourceText) { (self.text, position) = (text, text.start) }

  mutating func items() throws -> ForeignItems {
    while let word = try next() {
      switch name(word) {
      case "machine": begin(Entry(machine: name(try argument(of: word)), line: word.line))
      case "default": begin(Entry(machine: nil, line: word.line))
      case "login":
        let login = name(try argument(of: word))
        entry?.login = login
      case "account":
        let account = name(try argument(of: word))
        entry?.account = account
      case "password":
        let value = try argument(of: word)
        entry?.password = (try value.quoted ?? text.secret(value.range), value.range)
      case "macdef":
        result.lost.append(LostPart(line: word.line, what: name(try argument(of: word)), .macro))
        skipMacro()
      // The word itself may be a password whose keyword is missing.
      default: throw ForeignError(.tokenUnknown, line: word.line)
      }
    }
    end()
    return result
  }

  private mutating func begin(_ new: Entry) {
    end()
    entry = new
  }

  private mutating func end() {
    guard let entry = entry.take() else { return }
    guard let machine = entry.machine else {
      result.lost.append(LostPart(line: entry.line, what: "default", .anyHost))
      return
    }
    guard let password = entry.password else {
      result.lost.append(LostPart(line: entry.line, what: machine, .noSecret))
      return
    }
    var item = ForeignItem(
      Item(service: machine, account: entry.login), password.secret, line: entry.line, value: password.value)
    // curl takes the first one.
    guard seen.insert(item.item.encoded).inserted else {
      result.lost.append(LostPart(line: entry.line, what: machine, .otherKind))
      return
    }
    if let account = entry.account { item.set("netrc.account", to: account) }
    result.items.append(item)
  }

  // MARK: Words

  private mutating func advance() {
    if text[position] == SourceText.lineFeed { line += 1 }
    position += 1
  }

  private func name(_ word: Word) -> String { word.quoted?.text ?? text.text(word.range) }

  private mutating func argument(of word: Word) throws -> Word {
    guard let next = try next(isValue: true) else { throw ForeignError(.cutOff, line: word.line, name(word)) }
    return next
  }

  private static func isSpace(_ byte: UInt8) -> Bool { SourceText.isBlank(byte) || byte == SourceText.lineFeed }

  /// - Parameter isValue: A value may begin with `#`.
  private mutating func next(isValue: Bool = false) throws -> Word? {
    while position < text.count {
      if !isValue, text[position] == UInt8(ascii: "#") {
        while position < text.count, text[position] != SourceText.lineFeed { position += 1 }
      } else if Self.isSpace(text[position]) {
        advance()
      } else {
        break
      }
    }
    guard position < text.count else { return nil }
    let (start, startLine) = (position, line)
    guard text[position] != UInt8(ascii: "\"") else { return try quoted() }
    while position < text.count, !Self.isSpace(text[position]) { position += 1 }
    return Word(range: start..<position, line: startLine, quoted: nil)
  }

  private mutating func quoted() throws -> Word {
    let startLine = line
    position += 1
    let start = position
    var value = try SecretBuilder()
    while position < text.count, text[position] != UInt8(ascii: "\"") {
      var byte = text[position]
      if byte == UInt8(ascii: "\\"), position + 1 < text.count {
        advance()
        byte =
          switch text[position] {
          case UInt8(ascii: "n"): 0x0A
          case UInt8(ascii: "r"): 0x0D
          case UInt8(ascii: "t"): 0x09
          case let other: other
          }
      }
      try value.append(byte, line: line)
      advance()
    }
    guard position < text.count else { throw ForeignError(.quoteOpen, line: startLine) }
    position += 1
    return Word(range: start..<position - 1, line: startLine, quoted: try value.finish())
  }

  /// A macro ends with an empty line.
  private mutating func skipMacro() {
    var isLineEmpty = false
    while position < text.count {
      if text[position] == SourceText.lineFeed {
        if isLineEmpty { return }
        isLineEmpty = true
      } else if !SourceText.isBlank(text[position]) {
        isLineEmpty = false
      }
      advance()
    }
  }
}
