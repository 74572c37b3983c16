package import VaultCore

extension Vault {
  private static let kindsOfPersons: Set<SlotType> = [.passphrase, .passphraseAndKeyFile, .recoveryKey]

  /// Whether there is something that opens it beside key files, which lie about for programs.
  /// - Throws: integrity errors.
  package borrowing func isOwnedByPerson() throws -> Bool {
    try status().slots.contains { Self.kindsOfPersons.contains($0.type) }
  }

  /// Who has typed a passphrase is a person, or has been trusted with it. A vault that has only key files knows no better.
  /// - Throws: integrity errors.
  package borrowing func isOpenedByOwner() throws -> Bool {
    try Self.kindsOfPersons.contains(openedSlot.type) || !isOwnedByPerson()
  }
}
