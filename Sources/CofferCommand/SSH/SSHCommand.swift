import ArgumentParser
import Coffer
import CofferConsole
import CofferFiles
import CofferRequests
import CofferStorage
import OpenSSHAgent
import SSHAgentProtocol
import VaultCore

struct SSHCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ssh", abstract: "Keep private keys for ssh in the vault, for coffer-ssh-agent.",
    subcommands: [SSHAdd.self, SSHList.self, SSHRemove.self, SSHConfig.self])

  func run() throws {
    throw Failure.usage("ssh: a verb is missing", hint: "coffer ssh --help")
  }
}

/// The vault that has the keys: the agent for ssh knows no other than the user's own.
struct SSHOptions: ParsableArguments {
  @OptionGroup var access: AccessOptions
  @OptionGroup var vault: VaultOptions

  func open() throws -> SSHKeys {
    try vault.checkIsOfSSH()
    return try SSHKeys(access.open(vault))
  }
}

extension VaultOptions {
  /// - Throws: usage.
  func checkIsOfSSH() throws(Failure) {
    guard vault == nil else { throw .usage("--vault: the agent for ssh uses the user's own vault only") }
  }
}

/// The keys for ssh in a vault, and the files with their public keys.
struct SSHKeys {
  let items: OpenItems
  let files: PublicKeyDirectory

  init(_ items: OpenItems) throws {
    self.items = items
    files = PublicKeyDirectory(at: try Places(environment: { Environment[$0] }).sshPublicKeys)
  }

  struct Key {
    let name: SSHKeyName
    let entry: Entry
    /// Nil for an item that `coffer ssh add` has not made.
    let line: PublicKeyLine?
    var hosts: [String] { (entry.item[Item.sshHosts] ?? "").split(separator: " ").map(String.init) }
  }

  /// All keys, by name.
  /// - Parameter isComplete: Set to false if some items cannot be read.
  func all(isComplete: inout Bool) throws -> [Key] {
    let group = AccessGroup.sshKeys
    guard try about("group \(group.name)", { try items.keychain.contains(group) }) else { return [] }
    let found = try about("group \(group.name)") { try items.keychain.listing(KeychainQuery(.key, group: group)) }
    isComplete = found.unavailableCount == 0 && found.damagedCount == 0
    return found.entries.compactMap(Self.key).sorted { $0.name.description < $1.name.description }
  }

  func add(_ key: AddedKey, as name: SSHKeyName, _ change: (inout Item) -> Void) throws {
    var item = Item(sshKey: name)
    item.set(publicKey: key.line)
    change(&item)
    try items.keychain.add(item, secret: key.secret, group: .sshKeys)
  }

  /// Returns nil if there is none.
  func key(_ name: SSHKeyName) throws -> Key? {
    let query = KeychainQuery(.key, group: .sshKeys, attributes: Item(sshKey: name).primaryKey)
    return try about(name.description) { try items.keychain.items(query) }.first.flatMap(Self.key)
  }

  private static func key(_ entry: Entry) -> Key? {
    entry.item.sshKeyName.map { name in
      Key(
        name: name, entry: entry,
        line: entry.item[Item.sshPublicKey].flatMap { PublicKeyLine(parsing: Array($0.utf8)) })
    }
  }

  /// - Throws: usage.
  static func name(_ text: String) throws(Failure) -> SSHKeyName {
    guard let name = SSHKeyName(text) else {
      throw .usage(
        "name \"\(text)\": letters, digits and ._-@+, with a letter or a digit at its beginning", hint: "--name gives another one"
      )
    }
    return name
  }
}

extension Item {
  mutating func set(publicKey line: PublicKeyLine) {
    self[Item.sshPublicKey] = line.text
    label = PublicKeyLine(parsing: Array(line.text.utf8))?.comment
  }
}
