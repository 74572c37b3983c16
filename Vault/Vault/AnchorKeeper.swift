/// Saves the rollback anchor of an open vault: now and then, and when the vault goes.
///
/// An anchor that lags behind by less than the history ring is long does no harm, so it is not written at each commit.
final class AnchorKeeper {
  private static let interval: UInt64 = 16

  private let store: any AnchorStore
  private let keyring: Keyring
  /// The generation in the store.
  private var saved: UInt64

  init(_ store: any AnchorStore, keyring: Keyring, saved: UInt64) {
    self.store = store
    self.keyring = keyring
    self.saved = saved
  }

  deinit {
    // Nobody is there to be told, and nothing is lost: the anchor in the store is an earlier one of the same history.
    do { try save() } catch {}
  }

  func saveNowAndThen() throws {
    guard let newest = keyring.newest, newest.header.generation &- saved >= Self.interval else { return }
    try save()
  }

  func save() throws {
    guard let newest = keyring.newest, newest.header.generation > saved else { return }
    let integrity = keyring.keys.integrity
    // Another process may have seen more of the vault since: that must not be forgotten.
    let there = try? store.load().map { try Anchor(parsing: $0, keys: integrity) }
    if there.map({ $0.generation < newest.header.generation }) ?? true {
      try store.save(Anchor(newest).sealed(with: integrity))
    }
    saved = newest.header.generation
  }
}
