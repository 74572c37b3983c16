internal import ProgramSecrets

/// The lines of a file that a shell reads, as far as it is sure how a shell of the Bourne family, or zsh, reads them.
package struct ShellLines {
  /// A value that the shell takes as it stands.
  package struct Assignment {
    package let name: String
    /// Between its quotes.
    package let value: Range<Int>
    package let isExport: Bool
  }

  private let text: SourceText
  private let lines: [Range<Int>]
  /// The lines, from 0, that begin outside of quotes, texts, branches and functions. nil if the file does not end outside of all: then it is
  /// read otherwise than the shell reads it.
  private let topLevel: Set<Int>?

  package init(_ text: SourceText) {
    self.text = text
    lines = text.lines()
    var levels = ShellLevels(text)
    topLevel = levels.topLevel(lines)
  }

  package var isUnderstood: Bool { topLevel != nil }

  package func isAtTopLevel(_ index: Int) -> Bool { topLevel?.contains(index) ?? false }

  // MARK: Assignments

  /// The assignment that is alone on a line, besides `export` and a comment.
  package func assignment(on index: Int) -> Assignment? {
    var rest = lines[index]
    skipBlanks(&rest)
    let isExport = text.holds("export", at: rest.lowerBound) && isBlank(rest.lowerBound + 6, in: rest)
    if isExport {
      rest = rest.lowerBound + 6..<rest.upperBound
      skipBlanks(&rest)
    }
    guard let equals = text.offset(of: UInt8(ascii: "="), in: rest), equals - rest.lowerBound <= 256 else { return nil }
    let name = text.text(rest.lowerBound..<equals)
    guard VariableName.isIdentifier(name), let (value, end) = value(equals + 1..<rest.upperBound), !value.isEmpty else {
      return nil
    }
    rest = end..<rest.upperBound
    if !rest.isEmpty, !isBlank(end, in: rest) { return nil }
    skipBlanks(&rest)
    guard rest.isEmpty || text[rest.lowerBound] == UInt8(ascii: "#") else { return nil }
    return Assignment(name: name, value: value, isExport: isExport)
  }

  /// - Returns: the value that no shell would change, and the end of its word.
  private func value(_ range: Range<Int>) -> (Range<Int>, Int)? {
    guard let first = range.first else { return nil }
    let quote = text[first]
    guard [UInt8(ascii: "'"), UInt8(ascii: "\"")].contains(quote) else {
      let end = range.first(where: { !isPlain(text[$0]) }) ?? range.upperBound
      return (first..<end, end)
    }
    guard let end = text.offset(of: quote, in: first + 1..<range.upperBound) else { return nil }
    let within = first + 1..<end
    let changing = quote == UInt8(ascii: "'") ? "\r" : "\r$`\\!"
    return within.contains { changing.utf8.contains(text[$0]) } ? nil : (within, end + 1)
  }

  private func isPlain(_ byte: UInt8) -> Bool { "-+./:=@%,".utf8.contains(byte) || VariableName.isPart(byte) }

  private func isBlank(_ offset: Int, in range: Range<Int>) -> Bool {
    range.contains(offset) && [0x20, 0x09].contains(text[offset])
  }

  private func skipBlanks(_ range: inout Range<Int>) {
    while isBlank(range.lowerBound, in: range) { range = range.lowerBound + 1..<range.upperBound }
  }

  /// The variables of a line `export NAME …` without a value and without an option.
  private func exported(on index: Int) -> [String] {
    let words = lines[index].split { [0x20, 0x09].contains(text[$0]) }
    guard isAtTopLevel(index), let first = words.first, first.count == 6, text.holds("export", at: first.lowerBound) else {
      return []
    }
    let names = words.dropFirst().filter { $0.count <= 256 }.map(text.text)
    return names.count == words.count - 1 && names.allSatisfy(VariableName.isIdentifier) ? names : []
  }

  /// Those of all such lines.
  package func exportedNames() -> Set<String> { Set(lines.indices.flatMap(exported)) }

  /// The first line, from 0, that has the name besides the given one, a comment, and `export NAME`.
  package func otherLine(with name: String, than own: Int) -> Int? {
    lines.indices.first { index in
      index != own && !isComment(index) && (has(name, lines[index]) && !exported(on: index).contains(name) || isCut(index))
    }
  }

  /// Whether a word may go on on the next line: it may be any name.
  private func isCut(_ index: Int) -> Bool {
    let line = lines[index]
    guard let last = line.last, text[last] == UInt8(ascii: "\\"), index + 1 < lines.count, line.count > 1 else { return false }
    return !isBlank(last - 1, in: line) && !isBlank(lines[index + 1].lowerBound, in: lines[index + 1])
  }

  private func isComment(_ index: Int) -> Bool {
    isAtTopLevel(index) && text.trimmed(lines[index]).first.map { text[$0] == UInt8(ascii: "#") } == true
  }

  private func has(_ name: String, _ line: Range<Int>) -> Bool { line.contains { text.hasVariable(name, at: $0, in: line) } }
}
