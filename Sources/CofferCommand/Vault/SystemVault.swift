import Coffer
import CofferConsole
import CofferWire
import VaultCore

/// The vault that the system agent keeps for this user. Each change carries a proof of the owner.
struct SystemVault: OwnedVault {
  let options: VaultOptions
  let keychain: Keychain

  func slots() throws -> [SlotDescription] {
    try about(VaultOptions.systemVault) { try keychain.vaultStatus().slots }
  }

  func report() throws -> VaultReport {
    let status = try about(VaultOptions.systemVault) { try keychain.vaultStatus() }
    return VaultReport(
      members: [
        ("path", .text(VaultOptions.systemVault)), ("id", .text(status.id.description)), ("created", .text(status.created.text)),
        ("generation", .natural(status.generation)), ("records", .natural(status.recordCount)),
        ("check", .text(status.checkCode)), ("proven", .boolean(false)),
        ("agent", .text("system, \(try keychain.stateText())")),
      ], slots: status.slots)
  }

  func addSlot(kdf: KDFParameters, _ credential: () throws -> Credential) throws {
    try options.withCredential(for: keychain) { proof in
      try keychain.unlock(with: proof, ceiling: options.ceiling)
      try keychain.addSlot(credential(), kdf: kdf, by: proof, ceiling: options.ceiling)
    }
  }

  func addRecoverySlot(kdf: KDFParameters) throws -> Secret {
    let text = try RecoveryKey.random()
    try addSlot(kdf: kdf) { try .recoveryKey(text.duplicate()) }
    return text
  }

  func removeSlot(about subject: String, _ choose: ([SlotDescription]) throws -> SlotDescription) throws {
    try options.withCredential(for: keychain) { proof in
      let slot = try choose(keychain.vaultStatus().slots)
      try CofferConsole.about(subject) { try keychain.removeSlot(slot.id, by: proof, ceiling: options.ceiling) }
    }
  }

  /// The agent does not tell which of several slots of one kind the proof opens.
  func replaceSlot(
    kdf: KDFParameters, _ choose: (SlotDescription?, [SlotDescription]) throws -> SlotDescription,
    with credential: () throws -> Credential
  ) throws {
    try options.withCredential(for: keychain) { proof in
      let slots = try keychain.vaultStatus().slots
      let fitting = slots.filter { $0.type == proof.slotType }
      let old = try choose(fitting.count == 1 ? fitting[0] : nil, slots)
      try keychain.unlock(with: proof, ceiling: options.ceiling)
      try keychain.replaceSlot(old.id, with: credential(), kdf: kdf, by: proof, ceiling: options.ceiling)
    }
  }
}
