/// What an open vault remembers between transactions: its keys, the state it saw last, and the groups it has opened. Nothing in it is
/// trusted without a look at the header: another process may have written since.
final class Keyring {
  let keys: VaultKeys
  /// The newest state this process has seen. The store must never show an older one.
  private(set) var newest: SealedHeader?
  private var groups: [AccessGroup: (keys: GroupKeys, mac: Digest)] = [:]

  init(keys: VaultKeys) {
    self.keys = keys
  }

  /// Begins a transaction.
  /// - Throws: `rolledBack`, `forked`, and what proving the header throws.
  func prove(_ rows: any Rows) throws -> ProvenState {
    let state = try ProvenState(proving: rows, keys: keys)
    if let newest {
      guard state.header.generation >= newest.header.generation else {
        throw VaultError(.rolledBack, "generation \(state.header.generation) after \(newest.header.generation)")
      }
      guard state.header.generation > newest.header.generation || state.mac == newest.mac else { throw VaultError(.forked) }
    }
    newest = state.sealedHeader
    return state
  }

  /// Whether the state continues the one that this process saw before: only with the history ring at hand can that be told.
  func check(_ state: ProvenState, _ rows: SlotRows) throws(VaultError) {
    guard let anchored else { return }
    _ = try Anchor.compare(anchored.generation, anchored.mac, with: state, rows)
  }

  /// The state of the last transaction that had the history ring.
  private(set) var anchored: (generation: UInt64, mac: Digest)?

  func anchor(_ header: SealedHeader) {
    anchored = (header.header.generation, header.mac)
  }

  /// - Returns: nil is a proven absence.
  func group(_ group: AccessGroup, in state: ProvenState) throws -> GroupKeys? {
    if let known = groups[group], known.mac == state.mac { return known.keys }
    guard let keys = try state.groupKeys(group, known: groups[group]?.keys) else {
      groups[group] = nil
      return nil
    }
    groups[group] = (keys, state.mac)
    return keys
  }

  /// After a commit of our own: groups that were current stay so.
  func adopt(_ header: SealedHeader, replacing mac: Digest, edited: [AccessGroup: GroupKeys]) {
    newest = header
    anchor(header)
    for (group, known) in groups where known.mac == mac { groups[group]?.mac = header.mac }
    for (group, keys) in edited { groups[group] = (keys, header.mac) }
  }
}
