import ArgumentParser
import CofferConsole
import SecretMemory
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
    let slots = try vault.ownedVault().slots()
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
    let owned = try vault.ownedVault()
    guard !newRecoveryKey else {
      let key = try NewRecoveryKey()
      return try NewRecoveryKey.counting([key]) {
        // The owner is proven first.
        try owned.addSlot(kdf: slot.kdf) {
          try key.deliver(isInputAllowed: !vault.noInput)
          return try .recoveryKey(key.text.duplicate())
        }
      }
    }
    let file = try slot.openedKeyFile()
    try owned.addSlot(kdf: slot.kdf) { try slot.credential(file, isInputAllowed: !vault.noInput) }
  }

  /// Before a person types a passphrase, or a recovery key is printed.
  /// - Throws: `slotsFull`.
  static func checkRoom(beside slots: [SlotDescription]) throws {
    guard slots.count < SlotDescription.indices.count else { throw VaultError(.slotsFull) }
  }
}

struct SlotRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a slot.",
    discussion: """
      Asks at a terminal. Without one nothing is asked, unless the slot is the one that has just opened the vault: then --force is needed.
      """, aliases: ["rm"])

  @Argument(help: "Its number or its id, as \"slot list\" shows them.", completion: OfferedNames.slots)
  var slot: String

  @Flag(help: "Do not ask.")
  var force = false

  @OptionGroup var vault: VaultOptions

  func run() throws {
    try vault.ownedVault().removeSlot(about: "slot \(slot)") { opened, slots in
      let chosen = try named(in: slots)
      // The last one is refused.
      if !force, slots.count > 1 { try confirm(chosen, hasOpened: chosen.id == opened?.id) }
      return chosen
    }
    SlotDescription.noteMasterKey("the credential of that slot")
    Descriptor.error.hintAtTerminal("to end that: coffer vault rotate")
  }

  private func confirm(_ chosen: SlotDescription, hasOpened: Bool) throws {
    guard hasOpened || vault.isAnybodyThere else { return }
    let text = "Remove slot \(chosen.index), \(chosen.text)\(hasOpened ? ", which has just opened the vault" : "")?"
    try Question.agree(text, about: "slot \(slot), which has just opened the vault", vault)
  }

  private func named(in slots: [SlotDescription]) throws -> SlotDescription {
    guard let found = slots.first(where: { "\($0.index)" == slot || $0.id.description == slot }) else {
      throw Failure(.notFound, "slot \(slot): does not exist", hint: "coffer vault slot list")
    }
    return found
  }
}
