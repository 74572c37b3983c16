import ArgumentParser
import VaultCore

struct VaultPassphrase: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "passphrase",
    abstract: "Change the passphrase that opens the vault.",
    discussion: "Slots of other kinds stay. Copies of the vault from before still open with the old one."
  )

  @OptionGroup var vault: VaultOptions
  @OptionGroup var slot: NewSlotOptions

  func run() throws {
    let place = try vault.openPlace()
    let file = try slot.openedKeyFile()
    var opened = try vault.open(place)
    let old = try replaced(opened)
    if old.type == .passphraseAndKeyFile, file == nil {
      throw Failure.usage(
        "passphrase: goes together with a key file", hint: "name that file again, or another: --new-key-file FILE")
    }
    if old.type == .passphrase, file != nil {
      throw Failure.usage(
        "--new-key-file: the passphrase in slot \(old.index) needs none",
        hint: "coffer vault slot add --new-passphrase --new-key-file FILE, then coffer vault slot remove \(old.index)")
    }
    let credential = try slot.credential(file, isInputAllowed: !vault.noInput, asksAlways: true)
    try about(place.path) { try opened.replaceSlot(old.id, with: credential, kdf: slot.kdf) }
    opened.finish()
  }

  /// The slot with a passphrase that opened the vault, or else the only one there is: never a slot of another kind.
  private func replaced(_ opened: borrowing Vault) throws -> SlotDescription {
    let slot = opened.openedSlot
    if slot.type.hasPassphrase { return slot }
    let slots = try opened.status().slots.filter(\.type.hasPassphrase)
    if let only = slots.first, slots.count == 1 { return only }
    throw Failure.usage(
      slots.isEmpty ? "passphrase: the vault has none" : "passphrase: the vault has \(slots.count), and none of them opened it",
      hint: slots.isEmpty
        ? "coffer vault slot add --new-passphrase; coffer vault slot list and remove for the others"
        : "coffer vault slot list shows them; coffer vault slot add --new-passphrase, then coffer vault slot remove")
  }
}
