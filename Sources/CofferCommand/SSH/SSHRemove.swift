import ArgumentParser
import Coffer
import CofferConsole
import OpenSSHAgent
import VaultCore

struct SSHRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm", abstract: "Remove keys for ssh from the vault.",
    discussion: """
      Asks at a terminal, unless --force or --no-input is given. coffer secret restore brings a key back, for as long as the policy of the \
      vault keeps it, and coffer ssh list its public key. If nothing of a key can be kept, the word "yes" is asked for, and without a \
      terminal --force is needed.
      """,
    aliases: ["remove"])

  @Argument(help: "The names of the keys.")
  var names: [String]

  @Flag(help: "Do not ask.")
  var force = false

  @OptionGroup var options: SSHOptions

  func run() throws {
    let names = try names.map(SSHKeys.name)
    let keys = try options.open()
    let found = try names.map { name in
      guard let key = try keys.key(name) else {
        throw Failure(.notFound, "\(name): does not exist", hint: "coffer ssh list shows the keys there are")
      }
      return key
    }
    if !force, !options.vault.noInput, Descriptor.input.isTerminal {
      let list = names.map(\.description).joined(separator: ", ")
      guard try Question.isYes("Remove \(list)? [y/N] ") else { throw Failure.cancelled }
    }
    var removal = ItemRemoval(options.vault, isForced: force)
    for key in found {
      let isKept = try removal.remove("\(key.name)") { try keys.items.keychain.remove(key.entry.reference, mustKeep: $0) }
      try about("\(key.name)") { try keys.files.remove(key.name) }
      guard isKept else {
        ItemRemoval.noteLoss(of: "\(key.name)")
        continue
      }
      Descriptor.error.hintAtTerminal("to get it back: coffer secret restore --class key \(key.entry.nameWithGroup)")
    }
    keys.items.finish()
  }
}
