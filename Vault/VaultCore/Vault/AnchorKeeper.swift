import SecretMemory

/// Saves the rollback anchor of an open vault: now and then, and when the vault goes.
///
/// An anchor that lags behind by less than the history ring is long does no harm, so it is not written at each commit.
package final class AnchorKeeper {
  private static let interval: UInt64 = 16

  private let store: any AnchorStore
  private let keyring: Keyring
  /// The generation in the store; 0 if it is not known, or the path's note is to be written.
  private var saved: UInt64

  package init(_ store: any AnchorStore, keyring: Keyring, saved: UInt64) {
    (self.store, self.keyring, self.saved) = (store, keyring, saved)
  }

  deinit {
    // There is no caller to report to, and nothing is lost: the anchor in the store is an earlier one of the same history.
    do { try save() } catch {}
  }

  func saveNowAndThen() throws {
    guard let newest = keyring.newest, newest.header.generation &- saved >= Self.interval else { return }
    try save()
  }

  package func save(isDurable: Bool = false) throws {
    guard let newest = keyring.newest, newest.header.generation > saved else { return }
    try store.update(newest.header.vault, isDurable: isDurable) { Anchor.replacement(of: $0, by: newest, keyring.keys.integrity) }
    saved = newest.header.generation
  }

  func load() throws -> [UInt8]? { try store.load(keyring.keys.vault) }

  /// Compares a state with the anchor as it is now. If that is under other keys, this process is not to use those that it has: the file
  /// may be one from before they were renewed, put back.
  /// - Parameter anchor: Loaded before the state was read, or in a commit, in which no other process writes.
  /// - Throws: `anchorOtherKeys`, `anchorDamaged`, `rolledBack`, `forked`.
  func check(_ state: ProvenState, _ rows: SlotRows, against anchor: [UInt8]?) throws {
    guard let anchor, !anchor.isEmpty else { return }
    do { _ = try Anchor.proven(in: anchor, state.keys.integrity).0.check(state, rows) } catch {
      if error.code == .anchorOtherKeys { keyring.lock(keeping: KeptWhileLocked()) }
      throw error
    }
  }

  /// To be called in the commit of a new master key: if the process is killed then, one of two anchors proves the state that is there. The
  /// first is made anew: the one in the store may be from before a renewal that was killed.
  /// - Throws: The errors of the store.
  func announce(_ new: SealedHeader, _ keys: IntegrityKeys) throws {
    let before = keyring.newest.map { Anchor($0).sealed(with: keyring.keys.integrity) } ?? []
    try store.update(keys.vault, isDurable: true) { _ in before + Anchor(new).sealed(with: keys) }
  }
}
