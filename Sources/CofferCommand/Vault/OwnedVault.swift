import CofferConsole
import SecretMemory
import VaultCore

/// A vault as its owner administers it: a file that this process opens, or the vault that the system agent keeps.
///
/// What changes it proves the owner first, and evaluates its closures afterwards: a wrong passphrase is told before a new one is asked for.
protocol OwnedVault {
  /// The slots as the file lists them; nothing is proven.
  func slots() throws -> [SlotDescription]

  /// Opens the file if the options name a credential.
  func report() throws -> VaultReport

  func addSlot(kdf: KDFParameters, _ credential: () throws -> Credential) throws

  /// - Returns: The recovery key, to be printed.
  func addRecoverySlot(kdf: KDFParameters) throws -> Secret

  /// - Parameter subject: Named by an error.
  func removeSlot(about subject: String, _ choose: ([SlotDescription]) throws -> SlotDescription) throws

  /// - Parameter choose: Gets the slot that opened the vault, nil if it is not known, and all slots.
  func replaceSlot(
    kdf: KDFParameters, _ choose: (SlotDescription?, [SlotDescription]) throws -> SlotDescription,
    with credential: () throws -> Credential) throws
}

/// The members of `coffer vault status`, in their order.
struct VaultReport {
  let members: [(String, JSON)]
  let slots: [SlotDescription]
}

extension VaultOptions {
  /// Opens the files that the options name.
  func ownedVault() throws -> any OwnedVault {
    if let keychain = try systemAgent() { return SystemVault(options: self, keychain: keychain) }
    return FileVault(options: self, place: try openPlace())
  }
}
