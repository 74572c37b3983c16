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
    case .gitCredentials: try gitCredentials()
    case .netrc:
      try items(
        NetrcFormat.items(of: text), .none("curl and ftp know no other way; for git, coffer import netrc keeps it"))
    case .npmrc: try items(NpmrcFormat.items(of: text), .none("npm knows no helper; coffer run with ${NPM_TOKEN} in the file"))
    case .pypirc: try items(PypircFormat.items(of: text), .none("coffer run with TWINE_PASSWORD"))
    case .docker: try DockerFindings.findings(of: text)
    case .kube: try withOtherLines(KubeFindings.findings(of: text))
    case .cargo: try CargoFindings.findings(of: text, in: place)
    case .aws:
      try items(AWSFormat.items(of: text), Self.byCoffer(.credentialProcess), unless: obstacle(forProfile:))
    case .variables: try variables()
    case .shell: ShellFindings(text, service: shellService).findings()
    case .privateKey: SSHFindings.findings(of: text, in: place)
    case .lines: withOtherLines(SSHFindings.findings(of: text, in: place))
    }
  }

  /// A way on which another program starts `coffer`.
  private static func byCoffer(_ way: SweepFinding.Way) -> SweepFinding.Way {
    CalledName.isInstalled("coffer") || CalledName.isInstalled("git-credential-coffer") && way == .gitHelper
      ? way : .none("coffer is not in PATH")
  }

  private func gitCredentials() throws -> [SweepFinding] {
    let found = try GitCredentialsFormat.items(of: text)
    let obstacle = found.items.isEmpty ? nil : GitHelper.obstacle()
    return try items(found, Self.byCoffer(.gitHelper)) { _ in obstacle }
  }

  /// Why the programs of AWS would not get a profile's credential from the vault.
  private func obstacle(forProfile found: ForeignItem) throws -> String? {
    let name = ItemName.parts(of: found.item).account
    if name.hasPrefix("-") { return "the name begins with -, as an option does" }
    if found.item[AWSFormat.accessKey] == nil { return "has no aws_access_key_id" }
    return try AWSFormat.hasProcess(name, in: text) ? "has a credential_process already" : nil
  }

  /// - Parameter obstacle: Why the program would not find an item.
  private func items(
    _ found: ForeignItems, _ way: SweepFinding.Way, unless obstacle: (ForeignItem) throws -> String? = { _ in nil }
  ) throws -> [SweepFinding] {
    try found.items.map { SweepFinding($0, as: way, unless: try obstacle($0)) }
      + standingTwice(found).map { self.found("credential", $0.line, Self.other) }
      + found.lost.filter { $0.reason == .continued }
      .map { self.found("credential", $0.line, .none("a value goes on on the next line")) }
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
    let name = Path.name(of: place.path)
    // The variables of `.env.production` are those of `.env` with other values.
    let suffix = name.hasPrefix(".env.") ? String(name.dropFirst(4)) : ""
    let found = try DotenvFormat.items(of: text, service: project + suffix)
    let lines = text.lines()
    let others = standingTwice(found).compactMap { part in
      SuspectLines(text).rule(of: lines[part.line - 1]).map { self.found($0, part.line, Self.other) }
    }
    return found.items.compactMap { one in
      let name = ItemName.parts(of: one.item).account
      guard let rule = one.secret.leakRule(named: name) else { return nil }
      let found = SweepFinding(line: one.line, rule: rule, name: name, way: .reference, item: one)
      // Its program, or a shell, would put the reference into the other value.
      return text.expansion(of: name).map { found.staying("line \($0 + 1) has the variable, too") } ?? found
    } + others
  }

  private var project: String { DotenvImport.project(ofFileAt: place.path) ?? "env" }

  /// A file that each project may have is named by the project.
  private var shellService: String {
    let name = Path.name(of: place.path)
    return name == ".envrc" ? project : name.trimmingDots
  }

  // MARK: Lines

  /// Every line for itself, for a file of any form.
  func linesAlone() -> [SweepFinding] {
    let suspects = SuspectLines(text)
    return text.lines().enumerated().compactMap { index, line in
      suspects.rule(of: line).map { found($0, index + 1, .none(advice)) }
    }
  }

  private var advice: String {
    place.path.hasSuffix("history") ? "delete the line, and renew the secret" : "no other way for its program"
  }

  private func found(_ rule: String, _ line: Int, _ way: SweepFinding.Way) -> SweepFinding {
    SweepFinding(line: line, rule: rule, name: "", way: way, item: nil)
  }
}

extension String {
  fileprivate var trimmingDots: String {
    let name = String(drop { $0 == "." })
    return name.isEmpty ? "shell" : name
  }
}
