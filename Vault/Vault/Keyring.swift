/// What an open vault remembers between transactions: its keys, the state it saw last, and the groups it has opened. Nothing in it is
/// trusted without a look at the header: another process may have written since.
final class Keyring {
  private(set) var keys: VaultKeys
  /// The newest state this process has seen. The store must never show an older one.
  private(set) var newest: SealedHeader?
  private let nodes = NodeCache()
  private var groups: [AccessGroup: (keys: GroupKeys, mac: Digest)] = [:]

  init(keys: VaultKeys) {
    self.keys = keys
  }

  /// Begins a transaction. Where another process has written since, the state must continue the one seen last.
  /// - Throws: `rolledBack`, `forked`, `slotsForged`, and what proving the header throws.
  func prove(_ rows: any Rows) throws -> ProvenState {
    let state = try ProvenState(proving: rows, keys: keys, known: newest, nodes: nodes)
    if let newest, newest.mac != state.mac {
      let slotRows = try SlotRows(proving: rows, header: state.header, keys: keys.integrity)
      let check = try Anchor.compare(newest.header.generation, newest.mac, with: state, slotRows)
      // Versions tell states of a group apart in one history only.
      if case .tooFarBehind = check { groups = [:] }
    }
    newest = state.sealedHeader
    return state
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

  /// Forgets all keys but those that stay. What was seen last is remembered: a locked vault is rolled back as little as an open one.
  func lock(keeping kept: KeptWhileLocked) {
    keys = VaultKeys(locking: keys, keeping: kept)
    groups = [:]
  }

  /// After a commit of our own: groups that were current stay so.
  func adopt(_ header: SealedHeader, replacing mac: Digest, edited: [AccessGroup: GroupKeys]) {
    newest = header
    for (group, known) in groups where known.mac == mac { groups[group]?.mac = header.mac }
    for (group, keys) in edited { groups[group] = (keys, header.mac) }
  }
}
