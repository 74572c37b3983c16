import ForeignFormats

/// Secrets in a file that a shell reads. A line is moved if it surely is one exported assignment, of a value that the shell takes as it
/// stands, and if nothing else in the file has the variable: the shell itself would see the reference.
struct ShellFindings {
  private let text: SourceText
  private let service: String
  private let lines: ShellLines
  private let exported: Set<String>

  init(_ text: SourceText, service: String) {
    (self.text, self.service) = (text, service)
    lines = ShellLines(text)
    exported = lines.exportedNames()
  }

  func findings() -> [SweepFinding] {
    let suspects = SuspectLines(text)
    return text.lines().enumerated().compactMap { index, line in
      if let found = finding(on: index) { return found }
      guard let rule = suspects.rule(of: line) ?? (hasPrivateKey(line) ? "private-key" : nil) else { return nil }
      return SweepFinding(
        line: index + 1, rule: rule, name: "", way: .none("coffer secret set, and a reference in its place"), item: nil)
    }
  }

  private func finding(on index: Int) -> SweepFinding? {
    guard let found = lines.assignment(on: index), let secret = try? text.secret(found.value),
      let rule = secret.leakRule(named: found.name)
    else { return nil }
    let item = ForeignItem(service: service, account: found.name, secret, line: index + 1, value: found.value)
    let movable = SweepFinding(line: index + 1, rule: rule, name: found.name, way: .reference, item: item)
    return obstacle(found, on: index).map(movable.staying) ?? movable
  }

  private func obstacle(_ found: ShellLines.Assignment, on index: Int) -> String? {
    guard lines.isUnderstood else { return "a quote, a branch or a text of the file seems to have no end" }
    guard lines.isAtTopLevel(index) else { return "in a branch, a function or a text of several lines" }
    guard found.isExport || exported.contains(found.name) else {
      return exportsAll
        ? "exported by set -a, which coffer does not follow"
        : "not exported, and coffer run gives values to exported variables alone"
    }
    return lines.otherLine(with: found.name, than: index).map { "line \($0 + 1) has the variable, too" }
  }

  private var exportsAll: Bool {
    text.lines().contains { line in
      let words = line.split { text[$0] <= 0x20 }.prefix(3).map { text.text($0.prefix(16)) }
      return words.contains("allexport")
        || words.first == "set" && words.dropFirst().contains { $0.hasPrefix("-") && $0.contains("a") }
    }
  }

  /// The first line of a key in quotes.
  private func hasPrivateKey(_ line: Range<Int>) -> Bool {
    guard let start = line.first(where: { text.holds("-----BEGIN ", at: $0) }) else { return false }
    let words = text.text(start..<min(start + 64, line.upperBound))
    return words.contains("PRIVATE KEY-----") && !words.contains("ENCRYPTED")
  }
}
