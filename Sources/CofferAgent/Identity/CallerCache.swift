import CofferRequests
import VaultCore

/// Who a connection was found to be in the vault, for as long as the rules stay what they were. To prove a manifest, a pin and the grants
/// takes longer than all the rest of an answer. For one thread.
final class CallerCache {
  private var known: (name: Gate.As, rules: UInt64, isLocked: Bool, caller: Caller)?

  /// - Parameter rules: As `PolicyEpoch` has it, for the vault as it was seen last.
  func caller(
    _ name: Gate.As, in vault: borrowing Vault, at rules: UInt64, _ find: (borrowing Vault) throws -> Caller
  ) throws -> Caller {
    if let known, known.name == name, known.rules == rules, known.isLocked == vault.isLocked { return known.caller }
    known = nil
    let generation = vault.lastGeneration
    let caller = try find(vault)
    // Somebody may have written between two looks of this one.
    if vault.lastGeneration == generation { known = (name, rules, vault.isLocked, caller) }
    return caller
  }
}
