internal import CofferRequests
internal import CofferStorage
internal import CofferWire
internal import Pinentry
import SecretMemory
package import VaultCore

// An agent compares, and derives nothing: a guess costs the process that makes it, and an owner waits for no other's.
extension Keychain {
  /// Unlocks the agent's vault.
  /// - Parameter ceiling: The limit for the cost of key derivation in this process.
  /// - Throws: `wrongCredential`; `notAllowed` with the cause `kdfAboveCeiling`; `agent`, `agentNotAnswering`.
  package func unlock(with credential: borrowing Credential, ceiling: KDFCeiling) throws {
    try withDerived(credential, ceiling) { _ = try agent.answer(.session(.unlock($0, display: Display.current.fields))) }
  }

  /// Derives the key of each slot that the credential may open, and runs `body` with it, until the agent does not refuse it as
  /// wrong.
  func withDerived(
    _ credential: borrowing Credential, _ ceiling: KDFCeiling, _ body: (consuming Credential) throws -> Void
  ) throws {
    // The file says what a slot costs, and one that costs too much must not hide the others.
    var tooExpensive: KeychainError?
    var tried: Set<[UInt8]> = []
    // A second round for a slot that was replaced during the first, perhaps by one for the same credential.
    for _ in 0..<2 {
      let slots = try vaultStatus().slots.filter { $0.type == credential.slotType && !tried.contains($0.salt) }
      var isReplaced = false
      for slot in slots {
        tried.insert(slot.salt)
        do {
          return try body(Self.derived(credential, slot, ceiling))
        } catch let error as KeychainError {
          if error.code == .wrongCredential, Self.isWrong(error) {
            isReplaced = isReplaced || error.cause == .vault(.noSuchSlot)
            continue
          }
          guard Self.isTooExpensive(error) else { throw error }
          tooExpensive = error
        }
      }
      guard isReplaced else { break }
    }
    throw tooExpensive ?? KeychainError(VaultError(tried.isEmpty ? .noSuchSlot : .wrongCredential))
  }

  /// - Throws: `KeychainError` alone.
  package static func derived(
    _ credential: borrowing Credential, _ slot: SlotDescription, _ ceiling: KDFCeiling
  ) throws -> Credential {
    do { return try credential.derived(salt: slot.salt, slot.kdf, ceiling: ceiling) } catch { throw KeychainError(error) }
  }

  /// For a slot that the agent makes.
  /// - Throws: as `Credential.checkForNewSlot`; `kdfAboveCeiling`, `outOfMemory`.
  package static func derived(_ credential: borrowing Credential, forNewSlot kdf: KDFParameters) throws -> Credential {
    try credential.checkForNewSlot()
    return try credential.derived(salt: nil, credential.slotType.hasPassphrase ? kdf : nil, ceiling: .ofThisMachine)
  }

  /// It does not open this slot, or the slot was removed meanwhile. A credential with a length that none has is refused for
  /// every slot.
  private static func isWrong(_ error: KeychainError) -> Bool {
    [.vault(.wrongCredential), .vault(.noSuchSlot)].contains(error.cause)
  }

  package static func isTooExpensive(_ error: KeychainError) -> Bool {
    [.vault(.kdfAboveCeiling), .vault(.outOfMemory)].contains(error.cause)
  }
}
