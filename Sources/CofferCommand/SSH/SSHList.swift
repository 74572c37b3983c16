import ArgumentParser
import CofferConsole
import CofferRequests
import OpenSSHAgent
import SSHAgentProtocol
import VaultCore

struct SSHList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the keys for ssh in the vault.",
    discussion: """
      Columns: name, type, comment, hosts; at no terminal without a heading, separated by tabs. The files with the public keys, by which \
      the agent lists the keys, are made to match the vault.
      """,
    aliases: ["ls"])

  @Flag(help: "As JSON, with the public keys and the paths of their files.")
  var json = false

  @OptionGroup var options: SSHOptions

  func run() throws {
    let keys = try options.open()
    var isComplete = true
    let found = try keys.all(isComplete: &isComplete)
    keys.items.finish()
    try match(keys.files, found, isComplete)
    if json {
      let objects = found.map { JSON.object(Self.members($0, keys.files)) }
      try Descriptor.output.write(JSON.array(objects).description + "\n")
    } else {
      let rows = found.map { key in
        [key.name.description, key.line?.type ?? "", key.entry.item.label ?? "", key.hosts.joined(separator: " ")]
      }
      try Descriptor.output.write(Table(heading: ["NAME", "TYPE", "COMMENT", "HOSTS"], rows: rows).text(style: .current()))
    }
  }

  /// - Parameter isComplete: Whether a key that is not among those is not in the vault.
  private func match(_ files: PublicKeyDirectory, _ keys: [SSHKeys.Key], _ isComplete: Bool) throws {
    let present = Dictionary(files.keys.map { ($0.name, $0.line) }, uniquingKeysWith: { first, _ in first })
    for key in keys {
      guard let line = key.line, present[key.name] != line else { continue }
      try about("\(key.name)") { try files.write(line, as: key.name) }
    }
    guard isComplete else { return }
    for name in Set(present.keys).subtracting(keys.map(\.name)) { try about("\(name)") { try files.remove(name) } }
  }

  private static func members(_ key: SSHKeys.Key, _ files: PublicKeyDirectory) -> [(String, JSON)] {
    [
      ("name", .text(key.name.description)), ("type", .text(key.line?.type ?? "")),
      ("comment", .text(key.entry.item.label ?? "")), ("hosts", .array(key.hosts.map { .text($0) })),
      ("publicKey", .text(key.line?.text ?? "")), ("file", .text(files.path(of: key.name))),
      ("confirm", key.entry.item.confirmMinutes.map { .natural($0) } ?? .null),
    ]
  }
}
