import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import CofferRequests
import OpenSSHAgent
import SSHAgentProtocol
import SecretMemory
import VaultCore

struct SSHAdd: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Keep private keys.",
    discussion: """
      ssh-add reads each file, and asks for its passphrase if it has one. A certificate FILE-cert.pub beside it is kept as a key of its \
      own. The file stays as it is.
      """)

  @Argument(help: "Files with private keys; - is standard input.", completion: .file())
  var files: [String]

  @Option(help: ArgumentHelp("The name of the key in the vault, else that of its file.", valueName: "name"))
  var name: String?

  @Option(
    name: .customLong("host"), parsing: .singleValue,
    help: ArgumentHelp("A host, or a pattern, for which coffer ssh config names the key. May be repeated.", valueName: "pattern"))
  var hosts: [String] = []

  @Option(
    name: .customLong("destination"), parsing: .singleValue,
    help: ArgumentHelp(
      "Only for logins at this host, as ssh-add -h takes it: HOST or HOST>HOST. May be repeated.", valueName: "host"))
  var destinations: [String] = []

  @Option(
    help: ArgumentHelp("With --destination: the file with the keys of the hosts, else ~/.ssh/known_hosts.", valueName: "file"),
    completion: .file())
  var knownHosts: String?

  @Option(
    help: ArgumentHelp(
      "Ask before a signature; the owner may agree for so many minutes, 0: each time.", valueName: "minutes"))
  var confirm: UInt64?

  @Flag(help: "Replace a key of this name.")
  var update = false

  @OptionGroup var options: SSHOptions

  func run() throws {
    try options.vault.checkIsOfSSH()
    guard name == nil || files.count == 1 else { throw Failure.usage("--name: takes one file") }
    let names = try files.map { try SSHKeys.name(name ?? ($0 == "-" ? "" : Path.name(of: $0))) }
    for host in hosts where !HostPattern.isOne(host) {
      throw Failure.usage("--host \(host): is not a host or a pattern of ssh_config(5)")
    }
    guard !files.contains("-") || !options.vault.takesStandardInput else {
      throw Failure.usage("standard input: cannot give both passphrase and key", hint: "another descriptor")
    }
    for file in files where file != "-" {
      guard try Files<FileError>.status(at: file, followingLinks: true) != nil else {
        throw Failure(.notFound, "\(file): does not exist")
      }
    }
    let keys = try options.open()
    let reader = try KeyReader(destinations: destinations, knownHosts: knownHosts, isInputAllowed: !options.vault.noInput)
    for (file, name) in zip(files, names) {
      let added = try reader.keys(in: file)
      guard !added.isEmpty else { throw Failure(.other, "\(file): ssh-add has added no key") }
      for key in added { try keep(key, key.line.isCertificate ? SSHKeys.name("\(name)-cert") : name, in: keys) }
    }
    keys.items.finish()
  }

  private func keep(_ key: AddedKey, _ name: SSHKeyName, in keys: SSHKeys) throws {
    if let existing = try keys.key(name) {
      guard update || existing.line?.identity.key == key.line.identity.key else {
        throw Failure(
          .duplicate, "\(name): there is another key of this name",
          hint: "--name gives it another one; --update replaces that one")
      }
      if update {
        try about("\(name)") {
          _ = try keys.items.keychain.update(existing.entry.reference, secret: key.secret) { change(&$0, key.line) }
        }
      } else {
        Descriptor.error.note("note: \(name): the vault has this key already; --update changes hosts and rules\n")
      }
    } else {
      try about("\(name)") { try keys.add(key, as: name) { change(&$0, key.line) } }
    }
    try about("\(name)") { try keys.files.write(key.line, as: name) }
  }

  private func change(_ item: inout Item, _ line: PublicKeyLine) {
    item.set(publicKey: line)
    item[Item.sshHosts] = hosts.joined(separator: " ")
    item.confirmMinutes = confirm
  }
}

/// The patterns of `Host` in ssh_config(5).
enum HostPattern {
  /// Nothing that would begin another word, line or option.
  static func isOne(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.first != UInt8(ascii: "-")
      && text.utf8.allSatisfy { byte in
        "._-:*?!%[]".utf8.contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      }
  }
}
