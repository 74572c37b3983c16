import SecretMemory

/// The state that an open vault keeps between transactions: its keys, the last header, and the groups it has opened. Nothing in
/// it is used before the header was compared, because another process may have written since.
package final class Keyring {
  package private(set) var keys: VaultKeys
  /// The newest state this process has seen. The store must never show an older one.
  package private(set) var newest: SealedHeader?
  private let nodes = NodeCache()
  /// A leaf digest stands for one content of the record, so what was opened for it stays right.
  private var groups: [AccessGroup: (record: Identifier, leaf: Digest, keys: GroupKeys)] = [:]

  /// The number of the master key of `keys`.
  private var masterEpoch: UInt32

  package init(keys: VaultKeys, masterEpoch: UInt32 = 1) { (self.keys, self.masterEpoch) = (keys, masterEpoch) }

  /// Begins a transaction. Where another process has written since, the state must continue the one seen last.
  /// - Throws: `rolledBack`, `forked`, `slotsForged`, and what proving the header throws.
  package func prove(_ rows: any Rows) throws -> ProvenState {
    let state: ProvenState
    do {
      state = try ProvenState(proving: rows, keys: keys, known: newest, nodes: nodes)
    } catch VaultError.Code.headerForged {
      guard try SealedHeader(reading: rows).header.masterEpoch > masterEpoch else { throw VaultError(.headerForged) }
      lock(keeping: KeptWhileLocked())
      throw VaultError(.masterKeyChanged)
    }
    if let newest, newest.mac != state.mac { _ = try Anchor(newest).check(state, state.slotRows()) }
    (newest, masterEpoch) = (state.sealedHeader, state.header.masterEpoch)
    return state
  }

  /// The keys of a group, proven; nil is a proven absence.
  /// - Throws: `locked` for a group that a locked vault does not know; what proving and opening the record throws.
  package func group(_ group: AccessGroup, in state: ProvenState) throws -> GroupKeys? {
    if let kept = keys.kept { return try kept.group(group, in: state) }
    let id = try groups[group]?.record ?? keys.groupRecordID(group)
    guard let leaf = try state.tree.leaf(id) else { return nil }
    if let known = groups[group], known.leaf == leaf { return known.keys }
    let opened = try state.openGroup(state.record(id, expecting: leaf))
    groups[group] = (id, leaf, opened)
    return opened
  }

  /// - Throws: `groupNotFound`; as `group`.
  package func existing(_ group: AccessGroup, in state: ProvenState) throws -> GroupKeys {
    guard let keys = try self.group(group, in: state) else { throw VaultError(.groupNotFound, group.name) }
    return keys
  }

  /// Wipes all keys but those that stay. The last header is kept, so a rollback of a locked vault is noticed too.
  func lock(keeping kept: KeptWhileLocked) {
    keys = VaultKeys(locking: keys, keeping: kept)
    groups = [:]
  }

  /// After a commit of our own.
  package func adopt(_ header: SealedHeader, _ renewed: VaultKeys? = nil) {
    (newest, masterEpoch) = (header, header.header.masterEpoch)
    if let renewed { (keys, groups) = (renewed, [:]) }
  }
}
