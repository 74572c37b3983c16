package import Coffer
import CofferSync
import Glibc
import SecretMemory
package import VaultCore

/// A vault as a device of a space, for one process. It has no network: the engine is passed to the calls that use it.
package final class SpaceSession {
  package let keys: DeviceKeys
  let keychain: Keychain
  let files: StateFiles
  let values: ValueKey
  package internal(set) var state: LocalState
  /// Where the items of the vault are, by their tags, as the last pass has found them; nil: they have to be listed.
  var seen: [Identifier: Reference]?
  /// The deletions of the last minutes.
  var deletions = RecentDeletions()
  /// Milliseconds since 1970. Tests have another one.
  var clock = milliseconds
  /// Waits before another attempt to append. Tests have another one.
  var pause = { (tries: Int) in
    let milliseconds = Backoff.afterContention(tries, random: .random(in: 0..<1))
    usleep(UInt32(milliseconds * 1000))
  }
  /// An error in words, and whether the engine had no space left, for the notes.
  package var describe: (any Error) -> (text: String, isOfSpace: Bool) = { ("\($0)", false) }
  /// The dots of pending operations that the files have, the number of drafts, and the notes.
  private(set) var saved: (pending: Set<Identifier>, drafts: Int, notes: SyncNotes) = ([], 0, SyncNotes())

  /// - Parameters:
  ///   - space: nil for the only one.
  ///   - keychain: The vault.
  ///   - directory: The state directory of the user.
  ///   - isLocked: False to read the state alone, also while another process makes a pass.
  /// - Throws: `SyncError`; `StoredReplicaError`; as `Keychain.items`; errors of the files.
  package init(_ space: Identifier?, in keychain: Keychain, files directory: String, isLocked: Bool = true) throws {
    self.keychain = keychain
    keys = try DeviceKeys(of: space, in: keychain)
    files = try StateFiles(keys, in: directory, isLocked: isLocked)
    values = try ValueKey()
    state = try files.load(values)
    noteSaved()
  }

  /// A session of a device that `DeviceKeys.make` has just made: its state need not be read.
  package init(_ new: (keys: DeviceKeys, files: StateFiles, state: LocalState), in keychain: Keychain) throws {
    self.keychain = keychain
    (keys, files, state) = new
    values = try ValueKey()
    noteSaved()
  }

  /// Leaves the files to other processes until `resume`.
  package func rest() { files.rest() }

  /// Goes on with the state that other processes have left.
  /// - Throws: `otherCommand`, `stateMissing`; `StoredReplicaError`; errors of the files.
  package func resume() throws {
    guard try !files.resume() else { return }
    state = try files.load(values)
    seen = nil
    noteSaved()
  }

  /// Whether no other process has written the state since this session has read or written it.
  /// - Throws: errors of the files.
  package func isCurrent() throws -> Bool { try files.isCurrent() }

  /// Whether the disk has room for the files of this device.
  /// - Throws: errors of the files.
  package func hasRoom() throws -> Bool { try files.hasRoom() }

  private func noteSaved() {
    saved = (Set(state.replica.pending.map(\.operation.dot)), state.replica.drafts.count, state.notes)
  }

  func save() throws {
    try files.save(state)
    noteSaved()
  }

  /// Writes the files if a change of this device is in none: a crash must not make it again under another dot. Entries are read
  /// again.
  func saveChanges(of replica: Replica) throws {
    guard replica.drafts.count > saved.drafts || replica.pending.contains(where: { !saved.pending.contains($0.operation.dot) })
    else { return }
    state.replica = replica
    try save()
  }

  // MARK: Changes of the members and groups

  /// - Throws: errors of the files.
  package func change(_ body: (inout LocalState) throws -> Void) throws {
    try body(&state)
    try save()
  }

  /// Shares the items of a group from the next `synchronise` on.
  /// - Throws: `groupNotShared`, `groupInOtherSpace`; errors of the files.
  package func share(_ group: AccessGroup, others: [LocalState]) throws {
    guard !group.name.utf8.starts(with: "coffer.".utf8) else { throw SyncError(.groupNotShared, group.name) }
    guard !others.contains(where: { $0.groups.contains(group) }) else { throw SyncError(.groupInOtherSpace, group.name) }
    try change { $0.groups.insert(group) }
  }

  /// Shares them no longer. They stay in this vault, and in those of the others.
  /// - Throws: errors of the files.
  package func unshare(_ group: AccessGroup) throws {
    let tags = state.rows.keys.filter { content(of: $0)?.group == group }
    // Deletions that wait are of a group that was renamed or removed.
    let held = Set(
      state.replica.pending.filter(\.isHeld).map(\.operation.key).filter { content(of: $0.tag)?.group == group })
    try change { state in
      state.replica.discardDeletions { held.contains($0) }
      state.groups.remove(group)
      for tag in tags { state.rows[tag] = nil }
    }
  }

  /// The groups that have items in the space, with their number.
  package func offeredGroups() -> [AccessGroup: Int] { state.replica.offeredGroups() }

  /// The shown content of an item.
  /// - Returns: nil if there is none, if it lies in an object, or if it has no form: the fold takes none such, but a checkpoint may hold it.
  func content(of tag: Identifier) -> ItemContent? { state.replica.content(of: EntityKey(.item, tag)) }

  /// The fold with the pending operations on top.
  func shown(_ key: EntityKey) -> Entity? { state.replica.shown(key) }
}

extension Replica {
  fileprivate func content(of key: EntityKey) -> ItemContent? {
    guard let value = shown(key)?.shown(.content), case .clear(let bytes) = value else { return nil }
    return try? ItemContent(parsing: bytes)
  }

  /// The groups that have items in the space, with their number.
  package func offeredGroups() -> [AccessGroup: Int] {
    var counts: [AccessGroup: Int] = [:]
    for (key, entity) in state.entities where key.kind == .item && entity.exists {
      if let group = content(of: key)?.group { counts[group, default: 0] += 1 }
    }
    return counts
  }
}
