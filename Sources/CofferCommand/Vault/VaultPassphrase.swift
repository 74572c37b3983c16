import ArgumentParser
import CofferConsole
import CofferLifecycle
import SecretMemory
import VaultCore

struct VaultPassphrase: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "passphrase",
    abstract: "Change the passphrase that opens the vault.",
    discussion: """
      Slots of other kinds stay, and so does the master key: a copy of the vault from before and the old passphrase still read and change \
      this vault, with items that are added later.
      """
  )

  @Flag(help: "The old passphrase is known to others: new keys for everything, as coffer vault rotate makes them.")
  var leaked = false

  @OptionGroup var rotation: RotationOptions
  @OptionGroup var vault: VaultOptions
  @OptionGroup var slot: NewSlotOptions

  func run() throws {
    if leaked { return try rotate() }
    guard !rotation.isUsed else {
      throw Failure.usage(
        "passphrase: an option is for --leaked alone", hint: "coffer vault passphrase --leaked, or leave it out")
    }
    let owned = try vault.ownedVault()
    let file = try slot.openedKeyFile()
    try owned.replaceSlot(kdf: slot.kdf) { opened, slots in
      let old = try replaced(opened, of: slots)
      try check(old, file)
      return old
    } with: {
      try slot.credential(file, isInputAllowed: !vault.noInput, asksAlways: true)
    }
    SlotDescription.noteMasterKey("the old passphrase")
  }

  private func rotate() throws {
    let file = try slot.openedKeyFile()
    var order = rotation.order
    order.isLeaked = true
    order.kdf = slot.kdf
    let dialogue = try RotationDialogue(order, rotation, vault) { old in
      try check(old, file)
      return try slot.credential(file, isInputAllowed: !vault.noInput, asksAlways: true)
    }
    try dialogue.report(vault.ownedVault().rotate(dialogue))
  }

  private func check(_ old: SlotDescription, _ file: Descriptor?) throws {
    if old.type == .passphraseAndKeyFile, file == nil {
      throw Failure.usage(
        "passphrase: goes together with a key file", hint: "name that file again, or another: --new-key-file FILE")
    }
    if old.type == .passphrase, file != nil {
      throw Failure.usage(
        "--new-key-file: the passphrase in slot \(old.index) needs none",
        hint: "coffer vault slot add --new-passphrase --new-key-file FILE, then coffer vault slot remove \(old.index)")
    }
  }

  /// The slot with a passphrase that opened the vault, or else the only one there is: never a slot of another kind.
  private func replaced(_ opened: SlotDescription?, of slots: [SlotDescription]) throws -> SlotDescription {
    if let opened, opened.type.hasPassphrase { return opened }
    let slots = slots.filter(\.type.hasPassphrase)
    if let only = slots.first, slots.count == 1 { return only }
    throw Failure.usage(
      slots.isEmpty ? "passphrase: the vault has none" : "passphrase: the vault has \(slots.count), and none of them opened it",
      hint: slots.isEmpty
        ? "coffer vault slot add --new-passphrase; coffer vault slot list and remove for the others"
        : "coffer vault slot list shows them; coffer vault slot add --new-passphrase, then coffer vault slot remove")
  }
}
