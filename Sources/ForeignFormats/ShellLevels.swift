/// Follows what is open in a file of a shell: quotes, here-documents, parentheses, branches. It is no parser: what it takes for the wrong
/// thing leaves something open, and then no line of the file is sure.
struct ShellLevels {
  private struct Document {
    let end: [UInt8]
    let isIndented: Bool
    /// No line continues the one before.
    let isQuoted: Bool
  }

  private enum Opener: Equatable {
    case single, double
    /// `$'…'`
    case escaped
    case backquote
    /// `${…}`
    case expansion
    case parenthesis
    /// The word that closes it.
    case word(String)
  }

  private static let words = ["if": "fi", "do": "done", "case": "esac", "{": "}"]
  private static let closers = Set(words.values)

  private let text: SourceText
  private var open: [Opener] = []
  private var documents: [Document] = []
  private var isLost = false
  private var position = 0
  private var end = 0

  init(_ text: SourceText) { self.text = text }

  /// - Returns: the lines that begin outside of all; nil if the file does not end so.
  mutating func topLevel(_ lines: [Range<Int>]) -> Set<Int>? {
    var found: Set<Int> = []
    // In a text, and outside of one.
    var (isJoined, continues) = (false, false)
    for (index, line) in lines.enumerated() {
      if let document = documents.first {
        if !isJoined, isEnd(line, of: document) {
          documents.removeFirst()
        } else {
          isJoined = !document.isQuoted && line.reversed().prefix { text[$0] == UInt8(ascii: "\\") }.count % 2 == 1
        }
        continue
      }
      if open.isEmpty, !continues { found.insert(index) }
      continues = read(line)
    }
    return open.isEmpty && documents.isEmpty && !isLost && !continues ? found : nil
  }

  private func isEnd(_ line: Range<Int>, of document: Document) -> Bool {
    var start = line.lowerBound
    while document.isIndented, start < line.upperBound, text[start] == 0x09 { start += 1 }
    return (start..<line.upperBound).map { text[$0] } == document.end
  }

  private var byte: UInt8? { position < end ? text[position] : nil }

  private func next(_ count: Int = 1) -> UInt8? { position + count < end ? text[position + count] : nil }

  /// - Returns: whether the next line continues this one.
  private mutating func read(_ line: Range<Int>) -> Bool {
    (position, end) = (line.lowerBound, line.upperBound)
    var isWordStart = true
    while let byte {
      if byte == UInt8(ascii: "\\"), open.last != .single {
        position += 2
        isWordStart = false
      } else if let quote = open.last, [.single, .double, .escaped].contains(quote) {
        readQuoted(byte, quote)
        isWordStart = false
      } else if isWordStart, byte == UInt8(ascii: "#"), open.last != .expansion {
        return false
      } else {
        isWordStart = readCode(byte, isWordStart)
      }
    }
    return position > end
  }

  private mutating func readQuoted(_ byte: UInt8, _ quote: Opener) {
    if byte == UInt8(ascii: quote == .double ? "\"" : "'") {
      open.removeLast()
    } else if quote == .double, readExpansion(byte) {
      return
    }
    position += 1
  }

  /// Those that are read in double quotes, too.
  private mutating func readExpansion(_ byte: UInt8) -> Bool {
    if byte == UInt8(ascii: "$"), next() == UInt8(ascii: "{") || next() == UInt8(ascii: "(") {
      open.append(next() == UInt8(ascii: "{") ? .expansion : .parenthesis)
      position += 2
      return true
    }
    guard byte == UInt8(ascii: "`") else { return false }
    if let start = open.lastIndex(of: .backquote) {
      isLost = isLost || open.dropFirst(start + 1).contains { $0 != .double }
      open.removeSubrange(start...)
    } else {
      open.append(.backquote)
    }
    position += 1
    return true
  }

  /// - Returns: whether a word begins behind it.
  private mutating func readCode(_ byte: UInt8, _ isWordStart: Bool) -> Bool {
    if readExpansion(byte) { return open.last == .parenthesis || open.last == .backquote }
    switch byte {
    // A translated text.
    case UInt8(ascii: "$") where next() == UInt8(ascii: "\""): position += 1
    case UInt8(ascii: "$"):
      if next() == UInt8(ascii: "'"), !isInDoubleQuotes { open.append(.escaped) }
      position += 2
    case UInt8(ascii: "'"):
      if !isInDoubleQuotes { open.append(.single) }
      position += 1
    case UInt8(ascii: "\""):
      open.append(.double)
      position += 1
    case UInt8(ascii: "}") where open.last == .expansion:
      open.removeLast()
      position += 1
    case UInt8(ascii: "<") where next() == byte && open.last != .expansion: readDocument()
    case _ where Self.isDelimiter(byte):
      if byte == UInt8(ascii: "(") { open.append(.parenthesis) }
      if byte == UInt8(ascii: ")") { closeParenthesis() }
      position += 1
      return true
    case _ where isWordStart && open.last != .expansion: readWord()
    default: position += 1
    }
    return false
  }

  /// `'` is a character there, also within `${…}`.
  private var isInDoubleQuotes: Bool { open.last == .expansion && open.dropLast().last == .double }

  private static func isDelimiter(_ byte: UInt8) -> Bool { " \t;&|()<>".utf8.contains(byte) }

  private mutating func closeParenthesis() {
    if open.last == .parenthesis {
      open.removeLast()
    } else if open.last != .word("esac") {
      // Not behind a pattern.
      isLost = true
    }
  }

  private mutating func readWord() {
    let start = position
    while let byte, !Self.isDelimiter(byte), !"'\"`$\\".utf8.contains(byte) { position += 1 }
    guard byte.map(Self.isDelimiter) ?? true, position - start <= 4 else { return }
    let word = text.text(start..<position)
    if let closer = Self.words[word] {
      open.append(.word(closer))
    } else if Self.closers.contains(word) {
      if open.last == .word(word) { open.removeLast() } else { isLost = true }
    }
  }

  /// `<<END`, `<<-END` and `<<'END'`, but not `<<<` and not a shift.
  private mutating func readDocument() {
    guard next(2) != UInt8(ascii: "<") else {
      position += 3
      return
    }
    position += 2
    let isIndented = byte == UInt8(ascii: "-")
    if isIndented { position += 1 }
    while byte == 0x20 || byte == 0x09 { position += 1 }
    guard open.suffix(2) != [.parenthesis, .parenthesis] else {
      // In two parentheses a number is a shift. A name may be one, or the end of a text.
      if byte.map({ !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) ?? true { isLost = true }
      return
    }
    guard let (word, isQuoted) = readDelimiter(), !word.isEmpty else {
      isLost = true
      return
    }
    documents.append(Document(end: word, isIndented: isIndented, isQuoted: isQuoted))
  }

  /// - Returns: nil if it does not end on the line, or has something that only some shells read.
  private mutating func readDelimiter() -> (word: [UInt8], isQuoted: Bool)? {
    var (word, isQuoted) = ([UInt8](), false)
    while let byte, !Self.isDelimiter(byte) {
      position += 1
      switch byte {
      case UInt8(ascii: "$"), UInt8(ascii: "`"): return nil
      case UInt8(ascii: "\\"):
        guard let next = self.byte else { return nil }
        isQuoted = true
        word.append(next)
        position += 1
      case UInt8(ascii: "'"), UInt8(ascii: "\""):
        guard let close = text.offset(of: byte, in: position..<end) else { return nil }
        isQuoted = true
        word += (position..<close).map { text[$0] }
        position = close + 1
      default: word.append(byte)
      }
    }
    return (word, isQuoted)
  }
}
