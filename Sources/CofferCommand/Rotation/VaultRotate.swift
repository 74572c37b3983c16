import ArgumentParser
import CofferConsole
import CofferLifecycle
import VaultCore

struct VaultRotate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate", abstract: "Make a new master key, and new keys for groups.",
    discussion: """
      Afterwards nothing in the vault's file opens under an old key. A backup is made before, and everything is checked before and after. \
      Each slot is sealed anew, which takes its credential: passphrases are asked for one by one, and a recovery key is made anew and \
      printed. Without a terminal it acts only with --force. If the work is interrupted, the vault is whole, and the next call goes on. Backups made before open as before.
      """)

  @Option(parsing: .singleValue, help: ArgumentHelp("Only new keys for this group. May be repeated.", valueName: "name"))
  var group: [String] = []

  @Flag(help: "Only a new master key.")
  var masterOnly = false

  @OptionGroup var options: RotationOptions
  @OptionGroup var vault: VaultOptions

  func run() throws {
    guard group.isEmpty || !masterOnly else { throw Failure.usage("--group: not together with --master-only") }
    guard group.isEmpty || !options.concernsSlots else {
      throw Failure.usage("--group: the master key and its slots stay", hint: "leave out --group, or the options of slots")
    }
    guard group.isEmpty || !options.deviceKey else {
      throw Failure.usage(
        "--group: the device key is made anew together with the master key", hint: "leave out --group, or --device-key")
    }
    var order = options.order
    order.isMasterOnly = masterOnly
    if !group.isEmpty { order.groups = try group.map { try AccessGroup($0) } }
    let dialogue = try RotationDialogue(order, options, vault)
    try dialogue.report(vault.ownedVault().rotate(dialogue))
  }
}
