import Coffer
import CofferConsole
import CofferStorage
import VaultCore

/// A vault in a file of the user's, which this process opens.
struct FileVault: OwnedVault {
  let options: VaultOptions
  let place: VaultPlace

  func slots() throws -> [SlotDescription] {
    try about(place.path) { try Vault.inspect(place.store).slots }
  }

  func report() throws -> VaultReport {
    // Before the vault is opened, which may bring in what is outside.
    let outside = place.store.logByteCount
    let status = try about(place.path) { try read() }
    return VaultReport(
      members: [
        ("path", .text(place.path)), ("id", .text(status.id.description)), ("created", .text(status.created.text)),
        ("generation", .natural(status.generation)), ("records", .natural(status.recordCount)),
        ("check", .text(status.checkCode)), ("outside", .natural(UInt64(outside))), ("proven", .boolean(status.isProven)),
        ("agent", .text(try Keychain.connect(toAgentAt: options.socket()).stateText())),
      ], slots: status.slots)
  }

  private func read() throws -> VaultStatus {
    guard options.namesCredentialOption else { return try Vault.inspect(place.store) }
    let opened = try options.open(place)
    let status = try opened.status()
    opened.finish()
    return status
  }

  func addSlot(kdf: KDFParameters, _ credential: () throws -> Credential) throws {
    var opened = try options.open(place)
    let credential = try credential()
    _ = try about(place.path) { try opened.addSlot(credential, kdf: kdf) }
    opened.finish()
  }

  func addRecoverySlot(kdf: KDFParameters) throws -> Secret {
    var opened = try options.open(place)
    let text = try about(place.path) { try opened.addRecoverySlot() }
    opened.finish()
    return text
  }

  func removeSlot(about subject: String, _ choose: ([SlotDescription]) throws -> SlotDescription) throws {
    var opened = try options.open(place)
    let slot = try choose(opened.status().slots)
    try CofferConsole.about(subject) { try opened.removeSlot(slot.id) }
    opened.finish()
  }

  func replaceSlot(
    kdf: KDFParameters, _ choose: (SlotDescription?, [SlotDescription]) throws -> SlotDescription,
    with credential: () throws -> Credential
  ) throws {
    var opened = try options.open(place)
    let old = try choose(opened.openedSlot, opened.status().slots)
    let credential = try credential()
    try about(place.path) { try opened.replaceSlot(old.id, with: credential, kdf: kdf) }
    opened.finish()
  }
}
