import ArgumentParser
import VaultCore

struct VaultPassphrase: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "passphrase",
    abstract: "Change the passphrase that opens the vault.",
    discussion: "Copies of the vault from before still open with the old one."
  )

  @OptionGroup var vault: VaultOptions
  @OptionGroup var slot: NewSlotOptions

  func run() throws {
    let place = try vault.openPlace()
    let file = try slot.openedKeyFile()
    var opened = try vault.open(place)
    let old = opened.openedSlot
    guard old.type == .passphrase || old.type == .passphraseAndKeyFile || slot.newKeyFile != nil || slot.hasPassphrase else {
      throw Failure.usage("passphrase: the vault was opened by \(old.type.name)", hint: "coffer vault slot add --new-passphrase")
    }
    guard old.type != .passphraseAndKeyFile || file != nil else {
      throw Failure.usage(
        "passphrase: goes together with a key file", hint: "name that file again, or another: --new-key-file FILE")
    }
    let credential = try slot.credential(file, isInputAllowed: !vault.noInput, asksAlways: true)
    try about(place.path) { try opened.replaceSlot(old.id, with: credential, kdf: slot.kdf) }
    opened.finish()
  }
}
