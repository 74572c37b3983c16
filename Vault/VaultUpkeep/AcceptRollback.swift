import SecretMemory
public import VaultCore

extension Vault {
  /// Accepts the present state as the newest one, whatever the anchor: after a backup was restored on purpose.
  /// - Parameters:
  ///   - store: The store of the vault.
  ///   - credential: The credential of one of its slots.
  ///   - ceiling: The highest cost of a key derivation.
  ///   - anchor: The state that was last seen.
  ///   - confirm: Called with the rollback before it is accepted, if there is one. If it throws, the anchor stays.
  /// - Returns: The rollback that was accepted; nil if the anchor agreed with the present state.
  /// - Throws: as `open`, the anchor's refusals apart; what `confirm` throws.
  @discardableResult
  public static func acceptRollback(
    _ store: any Store, with credential: borrowing Credential, ceiling: KDFCeiling = .standard, anchor: any AnchorStore,
    confirm: (Rollback) throws -> Void = { _ in }
  ) throws -> Rollback? {
    let vault = try open(store, with: credential, ceiling: ceiling, anchor: anchor, isCopy: true)
    guard case .refused(let rollback) = vault.rollbackCheck else {
      try AnchorKeeper(anchor, keyring: vault.keyring, saved: 0).save()
      return nil
    }
    try confirm(rollback)
    // A person may have taken long: a vault with newer keys is not the state that was shown.
    _ = try vault.generation()
    let (newest, keys) = (vault.keyring.newest, vault.keyring.keys)
    if let newest { try anchor.accept(keys.vault, Anchor(newest).sealed(with: keys.integrity)) }
    return rollback
  }
}
