import ItemService
import VaultCore

/// Who a connection was found to be in the vault, for as long as the vault stays what it was. To prove a manifest, a pin and the grants
/// takes longer than all the rest of an answer. For one thread.
final class KnownCaller {
  private var known: (name: Gate.As, generation: UInt64, isLocked: Bool, caller: Caller)?

  /// - Parameter isAnew: Whether it must be found out now.
  func caller(
    _ name: Gate.As, in vault: borrowing Vault, isAnew: Bool, _ find: (borrowing Vault) throws -> Caller
  ) throws -> Caller {
    let generation = vault.lastGeneration
    if !isAnew, let known, known.name == name, known.generation == generation, known.isLocked == vault.isLocked {
      return known.caller
    }
    known = nil
    let caller = try find(vault)
    // Somebody may have written between two looks of this one.
    if vault.lastGeneration == generation { known = (name, generation, vault.isLocked, caller) }
    return caller
  }
}
