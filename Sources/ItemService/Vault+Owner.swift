package import VaultCore

extension Vault {
  /// A key file lies about for programs; who has typed a passphrase is a person, or has been trusted with it. A vault that has only key
  /// files knows no better.
  package borrowing func isOpenedByOwner() throws -> Bool {
    let kinds: Set<SlotType> = [.passphrase, .passphraseAndKeyFile, .recoveryKey]
    if kinds.contains(openedSlot.type) { return true }
    return try status().slots.allSatisfy { !kinds.contains($0.type) }
  }
}
