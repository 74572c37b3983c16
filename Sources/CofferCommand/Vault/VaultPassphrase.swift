import ArgumentParser
import Coffer
import CofferConsole
import CofferWire
import VaultCore

struct VaultPassphrase: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "passphrase",
    abstract: "Change the passphrase that opens the vault.",
    discussion: """
      Slots of other kinds stay, and so does the master key: whoever has a copy of the vault from before and the old passphrase reads and \
      changes this vault too, also what is added later.
      """
  )

  @OptionGroup var vault: VaultOptions
  @OptionGroup var slot: NewSlotOptions

  func run() throws {
    if let keychain = try vault.systemAgent() { return try change(keychain) }
    let place = try vault.openPlace()
    let file = try slot.openedKeyFile()
    var opened = try vault.open(place)
    let old = try replaced(opened.openedSlot, of: opened.status().slots)
    try check(old, file)
    let credential = try slot.credential(file, isInputAllowed: !vault.noInput, asksAlways: true)
    try about(place.path) { try opened.replaceSlot(old.id, with: credential, kdf: slot.kdf) }
    opened.finish()
    Self.noteMasterKey()
  }

  /// A new slot seals the same key.
  private static func noteMasterKey() {
    Descriptor.error.note(
      "note: the master key stays: with a copy of the file from before, the old passphrase still opens this vault, also later items\n"
    )
  }

  /// Which slot the old passphrase opens is the agent's to know: of several it is not told.
  private func change(_ keychain: Keychain) throws {
    let file = try slot.openedKeyFile()
    try vault.withCredential(for: keychain) { proof in
      let slots = try keychain.vaultStatus().slots
      let fitting = slots.filter { $0.type == proof.slotType }
      let old = try replaced(fitting.count == 1 ? fitting[0] : nil, of: slots)
      try check(old, file)
      // A wrong one is told before a new one is asked for.
      try keychain.unlock(with: proof, ceiling: vault.ceiling)
      let credential = try slot.credential(file, isInputAllowed: !vault.noInput, asksAlways: true)
      try keychain.replaceSlot(old.id, with: credential, kdf: slot.kdf, by: proof, ceiling: vault.ceiling)
    }
    Self.noteMasterKey()
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
