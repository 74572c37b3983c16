import CofferConsole
import ForeignFormats
import SecretMemory
import VaultCore

/// The changes of a file that leave ways to the vault in the places of secrets.
struct FileEdit {
  private struct Change {
    let range: Range<Int>
    let text: [UInt8]
  }

  private let text: SourceText
  private let changes: [Change]

  /// - Parameter findings: Those to be moved, with the items that they become.
  /// - Throws: as the format of the file.
  init(_ file: SweptFile, _ content: ReadFile, _ findings: [(finding: SweepFinding, item: Item)]) throws {
    text = content.text
    var changes: [Change] = []
    var servers: Set<String> = []
    for (finding, item) in findings {
      guard let value = finding.item?.value else { continue }
      switch finding.way {
      case .reference: changes.append(Change(range: value, text: Array(item.reference(in: .standard).utf8)))
      case .gitHelper: changes.append(Change(range: Self.line(of: value, in: content.text), text: []))
      case .credentialProcess: changes += Self.profile(ItemName.parts(of: item).account, in: content.text)
      case .dockerHelper: servers.insert(ItemName.parts(of: item).service)
      case .none: continue
      }
    }
    if !servers.isEmpty {
      changes += try DockerFormat.edits(of: servers, helper: DockerFindings.name, in: content.text)
        .map { Change(range: $0.range, text: Array($0.text.utf8)) }
    }
    self.changes = changes.sorted { $0.range.lowerBound < $1.range.lowerBound }
  }

  /// With its end.
  private static func line(of range: Range<Int>, in text: SourceText) -> Range<Int> {
    let lineFeed = UInt8(ascii: "\n")
    let start = (0..<range.lowerBound).last { text[$0] == lineFeed }.map { $0 + 1 } ?? 0
    let end = text.offset(of: lineFeed, in: range.upperBound..<text.count).map { $0 + 1 } ?? text.count
    return start..<end
  }

  /// The first setting of a profile's credential becomes the way, the others go.
  private static func profile(_ name: String, in text: SourceText) -> [Change] {
    let lines = AWSFormat.credentialLines(of: name, in: text)
    // A profile is a word for the shell-like grammar of the setting.
    let words = Array("credential_process = coffer credential aws \(ShellWord.quoted(name))\n".utf8)
    return lines.enumerated().map { index, value in
      Change(range: line(of: value, in: text), text: index == 0 ? words : [])
    }
  }

  /// The content afterwards.
  /// - Throws: as `Secret(count:)`.
  func result() throws -> Secret {
    let count = changes.reduce(text.count) { $0 - $1.range.count + $1.text.count }
    var result = try Secret(count: count)
    var (from, to) = (0, 0)
    for change in changes + [Change(range: text.count..<text.count, text: [])] {
      for offset in from..<change.range.lowerBound {
        result.write(text[offset], at: to)
        to += 1
      }
      result.write(change.text, at: to)
      to += change.text.count
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
