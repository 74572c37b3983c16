import CofferConsole
import CofferFiles
import ForeignFormats
import ProgramSecrets
import SecretMemory
import VaultCore

/// Looks for secrets in a file, by its format and by the rules of the leak detector.
struct SweepScan {
  private let text: SourceText
  private let place: SweepPlace

  init(_ text: SourceText, _ place: SweepPlace) {
    self.text = text
    self.place = place
  }

  /// - Throws: `ForeignError`, `TextError`, for a file that is not of its format.
  func findings() throws -> [SweepFinding] {
    switch place.kind {
    case .gitCredentials: try items(GitCredentialsFormat.items(of: text), Self.byCoffer(.gitHelper))
    case .netrc:
      try items(
        NetrcFormat.items(of: text), .none("curl and ftp know no other way; for git, coffer import netrc keeps it"))
    case .npmrc: try items(NpmrcFormat.items(of: text), .none("npm knows no helper; coffer run with ${NPM_TOKEN} in the file"))
    case .pypirc: try items(PypircFormat.items(of: text), .none("coffer run with TWINE_PASSWORD"))
    case .docker: try DockerFindings.findings(of: text)
    case .kube: try withOtherLines(KubeFindings.findings(of: text))
    case .cargo: try CargoFindings.findings(of: text, in: place)
    case .aws: try items(AWSFormat.items(of: text), Self.byCoffer(.credentialProcess))
    case .variables: try variables()
    case .shell: shell()
    case .privateKey: SSHFindings.findings(of: text, in: place)
    case .lines: withOtherLines(SSHFindings.findings(of: text, in: place))
    }
  }

  /// A way on which another program starts `coffer`.
  private static func byCoffer(_ way: SweepFinding.Way) -> SweepFinding.Way {
    CalledName.isInstalled("coffer") || CalledName.isInstalled("git-credential-coffer") && way == .gitHelper
      ? way : .none("coffer is not in PATH")
  }

  private func items(_ found: ForeignItems, _ way: SweepFinding.Way) throws -> [SweepFinding] {
    found.items.map { SweepFinding($0, as: way) } + standingTwice(found).map { self.found("credential", $0.line, Self.other) }
  }

  /// The program takes one of two entries, so that a move takes that one alone. The other one is a secret too.
  private func standingTwice(_ found: ForeignItems) -> [LostPart] { found.lost.filter { $0.reason == .otherKind } }

  private static let other = SweepFinding.Way.none("stands twice, and its program takes the other one: delete it")

  /// A file may have secrets that its format does not mark.
  private func withOtherLines(_ found: [SweepFinding]) -> [SweepFinding] {
    found + linesAlone().filter { line in !found.contains { $0.line == line.line } }
  }

  // MARK: Variables

  private func variables() throws -> [SweepFinding] {
    let service = DotenvImport.project(ofFileAt: place.path) ?? "env"
    let found = try DotenvFormat.items(of: text, service: service)
    let lines = text.lines()
    let others = standingTwice(found).compactMap { part in
      rule(of: lines[part.line - 1]).map { self.found($0, part.line, Self.other) }
    }
    return found.items.compactMap { one in
      let name = ItemName.parts(of: one.item).account
      guard let rule = one.secret.leakRule(named: name) else { return nil }
      return SweepFinding(line: one.line, rule: rule, name: name, way: .reference, item: one)
    } + others
  }

  /// Assignments whose value no shell would change are moved; other lines with secrets are only found.
  private func shell() -> [SweepFinding] {
    var findings: [SweepFinding] = []
    var continues = false
    let lines = text.lines()
    let exported = exportedNames(lines)
    for (index, line) in lines.enumerated() {
      defer { continues = !line.isEmpty && text[line.upperBound - 1] == UInt8(ascii: "\\") }
      if !continues, let found = assignment(line, index + 1, exported) {
        findings.append(found)
      } else if let rule = rule(of: line) {
        findings.append(found(rule, index + 1, .none("coffer secret set, and a reference in its place")))
      }
    }
    return findings
  }

  private func assignment(_ line: Range<Int>, _ number: Int, _ exported: Set<String>) -> SweepFinding? {
    var reader = AssignmentReader(text, in: line)
    guard let found = try? reader.next(), !found.value.isEmpty, isLiteral(found.value, found.quote) else { return nil }
    guard let secret = try? text.secret(found.value), let rule = secret.leakRule(named: found.name) else { return nil }
    // The shell itself sees the reference in a variable that it does not export.
    guard isExport(line) || exported.contains(found.name) else {
      return SweepFinding(
        line: number, rule: rule, name: found.name,
        way: .none("not exported, and coffer run gives values to exported variables alone"), item: nil)
    }
    let item = ForeignItem(
      service: Path.name(of: place.path).trimmingDots, account: found.name, secret, line: number, value: found.value)
    return SweepFinding(line: number, rule: rule, name: found.name, way: .reference, item: item)
  }

  /// The variables that a line without a value exports.
  private func exportedNames(_ lines: [Range<Int>]) -> Set<String> {
    let names = lines.filter { isExport($0) && !$0.contains { text[$0] == UInt8(ascii: "=") } }.flatMap(words(of:))
    return Set(names.map(text.text))
  }

  private func isExport(_ line: Range<Int>) -> Bool {
    words(of: line).first.map { $0.count == 6 && text.holds("export", at: $0.lowerBound) } ?? false
  }

  private func words(of line: Range<Int>) -> [Range<Int>] { line.split { text[$0] <= 0x20 } }

  /// Whether a shell takes the value as it stands, as one word.
  private func isLiteral(_ value: Range<Int>, _ quote: UInt8?) -> Bool {
    switch quote {
    case UInt8(ascii: "'"): true
    case UInt8(ascii: "\""): value.allSatisfy { !"$`\\".utf8.contains(text[$0]) }
    default:
      value.allSatisfy { offset in
        let byte = text[offset]
        return "_-+./:=@%,".utf8.contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      }
    }
  }

  // MARK: Lines

  /// Longer lines are data of programs.
  private static let longestLine = 1 << 16

  /// Every line for itself, for a file of any form.
  func linesAlone() -> [SweepFinding] {
    text.lines().enumerated().compactMap { index, line in
      rule(of: line).map { found($0, index + 1, .none(advice)) }
    }
  }

  private var advice: String {
    place.path.hasSuffix("history") ? "delete the line, and renew the secret" : "no other way for its program"
  }

  private func found(_ rule: String, _ line: Int, _ way: SweepFinding.Way) -> SweepFinding {
    SweepFinding(line: line, rule: rule, name: "", way: way, item: nil)
  }

  private func rule(of line: Range<Int>) -> String? {
    let line = text.trimmed(line)
    guard line.count >= 8, line.count <= Self.longestLine, let secret = try? text.secret(line) else { return nil }
    if let rule = secret.leakRule(named: "") { return rule }
    // `NAME: VALUE` and `NAME = VALUE` of settings.
    guard let mark = line.first(where: { text[$0] == UInt8(ascii: ":") || text[$0] == UInt8(ascii: "=") }) else { return nil }
    let name = text.trimmed(line.lowerBound..<mark)
    var value = text.trimmed(mark + 1..<line.upperBound)
    guard name.count <= 64, name.allSatisfy({ text[$0] > 0x20 }) else { return nil }
    if value.count > 1, [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(text[value.lowerBound]),
      text[value.lowerBound] == text[value.upperBound - 1]
    {
      value = value.lowerBound + 1..<value.upperBound - 1
    }
    return (try? text.secret(value))?.leakRule(named: text.text(name))
  }
}

extension String {
  fileprivate var trimmingDots: String {
    let name = String(drop { $0 == "." })
    return name.isEmpty ? "shell" : name
  }
}
