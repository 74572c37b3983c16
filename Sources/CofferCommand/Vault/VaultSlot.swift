import ArgumentParser
import Coffer
import CofferConsole
import CofferWire
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
    let slots =
      if let keychain = try vault.systemAgent() {
        try about(VaultOptions.systemVault) { try keychain.vaultStatus().slots }
      } else {
        try inspected()
      }
    guard !json else { return try Descriptor.output.write(JSON.array(slots.map(\.json)).description + "\n") }
    var table = Table(heading: ["SLOT", "TYPE", "ID"])
    for slot in slots { table.rows.append(["\(slot.index)", slot.text, slot.id.description]) }
    try Descriptor.output.write(table.text(style: .current()))
  }

  private func inspected() throws -> [SlotDescription] {
    let place = try vault.openPlace()
    return try about(place.path) { try Vault.inspect(place.store).slots }
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
    if let keychain = try vault.systemAgent() { return try add(keychain) }
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

  private func add(_ keychain: Keychain) throws {
    let file = try slot.openedKeyFile()
    try vault.withCredential(for: keychain) { proof in
      // A wrong one is told before a new one is asked for.
      try keychain.unlock(with: proof, ceiling: vault.ceiling)
      guard newRecoveryKey else {
        let credential = try slot.credential(file, isInputAllowed: !vault.noInput)
        return try keychain.addSlot(credential, kdf: slot.kdf, by: proof, ceiling: vault.ceiling)
      }
      let text = try RecoveryKey.random()
      try keychain.addSlot(.recoveryKey(text.duplicate()), kdf: slot.kdf, by: proof, ceiling: vault.ceiling)
      try RecoveryKeyOutput.print(text)
    }
  }
}

struct SlotRemove: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a slot.", aliases: ["rm"])

  @Argument(help: "Its number or its id, as \"slot list\" shows them.")
  var slot: String

  @OptionGroup var vault: VaultOptions

  func run() throws {
    if let keychain = try vault.systemAgent() {
      return try vault.withCredential(for: keychain) { proof in
        let found = try named(in: keychain.vaultStatus().slots)
        try about("slot \(slot)") { try keychain.removeSlot(found.id, by: proof, ceiling: vault.ceiling) }
      }
    }
    let place = try vault.openPlace()
    var opened = try vault.open(place)
    let found = try named(in: opened.status().slots)
    try about("slot \(slot)") { try opened.removeSlot(found.id) }
    opened.finish()
  }

  private func named(in slots: [SlotDescription]) throws -> SlotDescription {
    guard let found = slots.first(where: { "\($0.index)" == slot || $0.id.description == slot }) else {
      throw Failure(.notFound, "slot \(slot): there is none", hint: "coffer vault slot list")
    }
    return found
  }
}
