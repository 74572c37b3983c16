import ForeignFormats
import ProgramSecrets

/// Looks for secrets line by line, in a file of any form.
struct SuspectLines {
  /// Longer lines are data of programs.
  private static let longestLine = 1 << 16
  private static let longestName = 64

  private let text: SourceText

  init(_ text: SourceText) { self.text = text }

  /// The rule of the leak detector that a line matches, or that a value in it does under its name.
  func rule(of line: Range<Int>) -> String? {
    let line = text.trimmed(line)
    guard line.count >= 8, line.count <= Self.longestLine, let secret = try? text.secret(line) else { return nil }
    return secret.leakRule(named: "") ?? ruleOfSetting(line) ?? ruleOfAssignments(line) ?? ruleOfFish(line)
  }

  private func rule(_ value: Range<Int>, named name: Range<Int>) -> String? {
    guard !name.isEmpty, name.count <= Self.longestName else { return nil }
    return (try? text.secret(unquoted(value)))?.leakRule(named: text.text(name))
  }

  /// `NAME: VALUE` and `NAME = VALUE` of settings.
  private func ruleOfSetting(_ line: Range<Int>) -> String? {
    guard let mark = line.first(where: { text[$0] == UInt8(ascii: ":") || text[$0] == UInt8(ascii: "=") }) else { return nil }
    let name = text.trimmed(line.lowerBound..<mark)
    guard name.allSatisfy({ text[$0] > 0x20 }) else { return nil }
    return rule(text.trimmed(mark + 1..<line.upperBound), named: name)
  }

  /// `NAME=VALUE` behind other words, such as `declare -x`, and behind other commands.
  private func ruleOfAssignments(_ line: Range<Int>) -> String? {
    for mark in line where text[mark] == UInt8(ascii: "=") {
      var start = mark
      while start > line.lowerBound, isPartOfName(text[start - 1]) { start -= 1 }
      guard start == line.lowerBound || " \t;&|({`\"'".utf8.contains(text[start - 1]) else { continue }
      // `NAME= VALUE` gives the shell no value, and is meant to.
      let value = word(text.trimmed(mark + 1..<line.upperBound))
      if let rule = rule(value, named: start..<mark) { return rule }
    }
    return nil
  }

  /// `set -gx NAME VALUE`
  private func ruleOfFish(_ line: Range<Int>) -> String? {
    guard text.holds("set ", at: line.lowerBound) else { return nil }
    let words = line.split { text[$0] <= 0x20 }.dropFirst().drop { text[$0.lowerBound] == UInt8(ascii: "-") }
    guard words.count > 1, let name = words.first, name.allSatisfy({ isPartOfName(text[$0]) }) else { return nil }
    return rule(name.upperBound + 1..<line.upperBound, named: name)
  }

  private func isPartOfName(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// Up to a blank or the next command, outside of quotes.
  private func word(_ range: Range<Int>) -> Range<Int> {
    var quote: UInt8?
    for offset in range {
      let byte = text[offset]
      if byte == quote {
        quote = nil
      } else if quote == nil, "'\"".utf8.contains(byte) {
        quote = byte
      } else if quote == nil, " \t;&|)".utf8.contains(byte) {
        return range.lowerBound..<offset
      }
    }
    return range
  }

  private func unquoted(_ value: Range<Int>) -> Range<Int> {
    guard value.count > 1, "\"'".utf8.contains(text[value.lowerBound]), text[value.lowerBound] == text[value.upperBound - 1]
    else {
      return value
    }
    return value.lowerBound + 1..<value.upperBound - 1
  }
}
