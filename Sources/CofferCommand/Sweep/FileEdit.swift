import CofferConsole
import ForeignFormats
import SecretMemory
import VaultCore

/// The changes of a file that leave ways to the vault in the places of secrets.
struct FileEdit {
  private let text: SourceText
  private let changes: [TextEdit]

  init(_ text: SourceText, _ changes: [TextEdit]) {
    self.text = text
    self.changes = changes.sorted { $0.range.lowerBound < $1.range.lowerBound }
  }

  /// - Parameter findings: Those to be moved, with the items that they become.
  /// - Throws: as the format of the file.
  init(_ text: SourceText, _ findings: [(finding: SweepFinding, item: Item)]) throws {
    var changes: [TextEdit] = []
    var names: [SweepFinding.Way: Set<String>] = [:]
    for (finding, item) in findings {
      guard let value = finding.item?.value else { continue }
      let (service, account) = ItemName.parts(of: item)
      switch finding.way {
      case .reference: changes.append(TextEdit(value, item.reference(in: .standard)))
      case .gitHelper: changes.append(TextEdit(text.wholeLine(of: value)))
      case .credentialProcess: changes += Self.profile(account, in: text)
      case .dockerHelper: names[finding.way, default: []].insert(service)
      case .kubectlExec, .cargoProvider: names[finding.way, default: []].insert(account)
      case .sshAgent, .none: continue
      }
    }
    if let servers = names[.dockerHelper] {
      changes += try DockerFormat.edits(of: servers, helper: DockerFindings.name, in: text)
    }
    if let users = names[.kubectlExec] {
      changes += KubeFormat.edits(
        of: try KubeFormat.users(of: text).filter { users.contains($0.name) }, program: KubeFindings.program)
    }
    if let registries = names[.cargoProvider] {
      changes += CargoFormat.edits(of: try CargoFormat.tokens(of: text).filter { registries.contains($0.registry) }, in: text)
    }
    self.init(text, changes)
  }

  /// The first setting of a profile's credential becomes the way, the others go.
  private static func profile(_ name: String, in text: SourceText) -> [TextEdit] {
    let lines = AWSFormat.credentialLines(of: name, in: text)
    // A profile is a word for the shell-like grammar of the setting.
    let words = "credential_process = coffer credential aws \(ShellWord.quoted(name))\n"
    return lines.enumerated().map { TextEdit(text.wholeLine(of: $1), $0 == 0 ? words : "") }
  }

  /// The content afterwards.
  /// - Throws: as `Secret(count:)`.
  func result() throws -> Secret {
    let count = changes.reduce(text.count) { $0 - $1.range.count + $1.text.utf8.count }
    var result = try Secret(count: count)
    var (from, to) = (0, 0)
    for change in changes + [TextEdit(text.count..<text.count)] {
      for offset in from..<change.range.lowerBound {
        result.write(text[offset], at: to)
        to += 1
      }
      result.write(Array(change.text.utf8), at: to)
      to += change.text.utf8.count
      from = change.range.upperBound
    }
    return result
  }
}

enum ShellWord {
  /// As a shell and the AWS programs read one word.
  static func quoted(_ text: String) -> String {
    text.isPlainWord ? text : "'" + text.replacing("'", with: #"'"'"'"#) + "'"
  }
}

extension Item {
  /// As `coffer run` takes it.
  func reference(in group: AccessGroup) -> String {
    let (service, account) = ItemName.parts(of: self)
    return "coffer://\([group.name, service, account].map(PercentEncoding.encode).joined(separator: "/"))"
  }
}
