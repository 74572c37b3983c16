import SecretMemory
package import VaultCore

/// A backup that was opened: its keys prove the backup, the vault that is to be replaced, and the result. Not thread-safe.
package final class RestoredVault {
  package var keys: VaultKeys
  private let sealedHeader: SealedHeader

  /// The 256 bytes of the backup's header.
  package var header: [UInt8] { sealedHeader.bytes }
  package var generation: UInt64 { sealedHeader.header.generation }
  package var recordCount: UInt64 { sealedHeader.header.recordCount }

  /// - Throws: as `Vault.open`, anchors apart.
  package init(opening store: any Store, with credential: borrowing Credential, ceiling: KDFCeiling = .standard) throws {
    keys = try Vault.unlock(store, with: credential, ceiling: ceiling).keys(device: nil)
    sealedHeader = try store.read { [keys] in try Self.prove($0, keys).0.sealedHeader }
  }

  private static func prove(_ rows: any Rows, _ keys: VaultKeys) throws -> (ProvenState, SlotRows) {
    let state = try ProvenState(proving: rows, keys: keys)
    return (state, try SlotRows(proving: rows, header: state.header, keys: keys.integrity))
  }

  /// Proves and opens everything among the rows of the backup, or of the restored vault.
  package func verify(
    _ rows: any Rows, progress: ((_ done: UInt64, _ total: UInt64) throws -> Void)? = nil
  ) throws -> Verification {
    try VerificationWalk(Self.prove(rows, keys).0, progress: progress).run()
  }

  /// - Throws: what proving the rows throws, and `policyMalformed`.
  package func limits(of rows: any Rows) throws -> Limits { try Self.prove(rows, keys).0.limits() }

  /// How the state of the rows compares with the anchor: reported, never refused.
  package func check(_ rows: any Rows, anchor: any AnchorStore) throws -> RollbackCheck {
    let seen = try SeenBefore(anchor, of: keys.vault)
    let (state, slotRows) = try Self.prove(rows, keys)
    return seen.check(state, slotRows).0
  }

  /// Whether the backup can become the next generation of a vault: the same one, with the same master key, whose state proves, is not
  /// older than the backup, and is the newest one that was seen. If not, all rows are replaced.
  package func isContinued(by rows: any Rows, anchor: any AnchorStore) throws -> Bool {
    do {
      let (state, _) = try Self.prove(rows, keys)
      guard state.header.masterEpoch == sealedHeader.header.masterEpoch, state.header.generation >= generation,
        state.header.generation < .max, sealedHeader.header.readOnlyFlags & ~state.header.readOnlyFlags == 0
      else { return false }
      if case .refused = try check(rows, anchor: anchor) { return false }
      return true
    } catch is VaultError {
      return false
    }
  }

  /// The rows of `hdr` that make the records of the backup the next generation of a vault: its slots and its history go on.
  /// - Parameter rows: those of the vault as it is.
  /// - Throws: as `isContinued` would be false; `unknownReadOnlyFlag`.
  package func change(continuing rows: any Rows) throws -> Change {
    var transaction = try Transaction(proving: rows, keyring: Keyring(keys: keys))
    transaction.tree = TreeEditor(of: sealedHeader.header, rows: rows, keys: keys.integrity)
    return try transaction.seal().change
  }

  /// The anchor of the backup's own state.
  package var anchor: [UInt8] { Anchor(sealedHeader).sealed(with: keys.integrity) }
}
