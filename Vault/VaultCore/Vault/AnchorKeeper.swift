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
    self.store = store
    self.keyring = keyring
    self.saved = saved
  }

  deinit {
    // There is no caller to report to, and nothing is lost: the anchor in the store is an earlier one of the same history.
    do { try save() } catch {}
  }

  func saveNowAndThen() throws {
    guard let newest = keyring.newest, newest.header.generation &- saved >= Self.interval else { return }
    try save()
  }

  package func save() throws {
    guard let newest = keyring.newest, newest.header.generation > saved else { return }
    let integrity = keyring.keys.integrity
    try store.update(newest.header.vault) { Anchor.replacement(of: $0, by: newest, integrity) }
    saved = newest.header.generation
  }
}
