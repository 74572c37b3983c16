import ArgumentParser
import VaultCore

struct VaultSlot: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "slot", abstract: "The ways into a vault.", subcommands: [SlotList.self, SlotAdd.self, SlotRemove.self])

  func run() throws {
    throw Failure.usage("vault slot: a verb is missing", hint: "coffer vault slot --help")
  }
}

struct SlotList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the slots. Asks for nothing, proves nothing.", aliases: ["ls"])

  @OptionGroup var vault: VaultOptions

  @Flag(help: "As JSON.")
  var json = false

  func run() throws {
    let place = try vault.openPlace()
    let slots = try about(place.path) { try Vault.inspect(place.store).slots }
    guard !json else { return try Descriptor.output.write(JSON.array(slots.map(\.json)).description + "\n") }
    var table = Table(heading: ["SLOT", "TYPE", "ID"])
    for slot in slots { table.rows.append(["\(slot.index)", slot.text, slot.id.description]) }
    try Descriptor.output.write(table.text(style: .current()))
  }
}

struct SlotAdd: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "add", abstract: "Add a passphrase, a key file or a recovery key.")

  @OptionGroup var vault: VaultOptions
  @OptionGroup var slot: NewSlotOptions

  @Flag(help: "A recovery key, made here and printed once.")
  var newRecoveryKey = false

  func run() throws {
    guard newRecoveryKey != (slot.hasPassphrase || slot.newKeyFile != nil) else {
      throw Failure.usage(
        "slot: one kind must be named", hint: "--new-passphrase, --new-key-file FILE, both, or --new-recovery-key")
    }
    let place = try vault.openPlace()
    guard !newRecoveryKey else {
      var opened = try vault.open(place)
      let text = try about(place.path) { try opened.addRecoverySlot() }
      opened.finish()
      return try RecoveryKeyOutput.print(text)
    }
    let file = try slot.openedKeyFile()
    var opened = try vault.open(place)
    let credential = try slot.credential(file, isInputAllowed: !vault.noInput)
    _ = try about(place.path) { try opened.addSlot(credential, kdf: slot.kdf) }
    opened.finish()
  }
}

struct SlotRemove: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a slot.", aliases: ["rm"])

  @Argument(help: "Its number or its id, as \"slot list\" shows them.")
  var slot: String

  @OptionGroup var vault: VaultOptions

  func run() throws {
    let place = try vault.openPlace()
    var opened = try vault.open(place)
    let slots = try opened.status().slots
    guard let found = slots.first(where: { "\($0.index)" == slot || $0.id.description == slot }) else {
      throw Failure(.notFound, "slot \(slot): there is none", hint: "coffer vault slot list")
    }
    try about("slot \(slot)") { try opened.removeSlot(found.id) }
    opened.finish()
  }
}
