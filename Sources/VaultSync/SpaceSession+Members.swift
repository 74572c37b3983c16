import Coffer
package import CofferSync
package import VaultCore

/// Devices and history.
extension SpaceSession {
  /// Adds a device with the next `synchronise`.
  /// - Throws: errors of the files.
  package func add(_ record: DeviceRecord) throws { try change { $0.replica.add(record) } }

  /// Removes devices with the next `synchronise`.
  /// - Parameter erase: Whether they are asked to erase the items of the space, which an honest one does.
  /// - Throws: errors of the files.
  package func remove(_ ids: [Identifier], erase: Bool = false) throws {
    guard !ids.isEmpty else { return }
    try change { $0.replica.remove(ids, erase: erase) }
  }

  /// Gives a device another role with the next `synchronise`.
  /// - Throws: errors of the files.
  package func setRole(_ id: Identifier, _ role: Role) throws { try change { $0.replica.setRole(id, role) } }

  /// Whether one of the machines that stay is an owner. Without one, only a recovery key could remove a machine.
  package var canLeave: Bool {
    let others = state.replica.membership.devices.values.filter { $0.id != keys.identity.id }
    return canGiveRole || others.allSatisfy(\.isRecovery)
  }

  /// Whether an owner would be left that is a machine, and no recovery key, if this device had another role. True if it is none.
  package var canGiveRole: Bool {
    let others = state.replica.membership.devices.values.filter { $0.id != keys.identity.id }
    return others.contains { $0.role == .owner && !$0.isRecovery } || state.replica.membership[keys.identity.id]?.role != .owner
  }

  /// The devices of a name, of the beginning of an identifier with at least 8 digits, or of a person.
  /// - Throws: `noDevice`; `severalDevices` if the name is that of several devices, or of a device and a person.
  package func devices(_ name: String) throws -> [DeviceRecord] {
    let all = Array(state.replica.membership.devices.values)
    let named = all.filter { record in
      record.name.order(name) == 0 || (name.utf8.count >= 8 && record.id.description.hasPrefix(name.lowercased()))
    }
    let ofPerson = all.filter { $0.person.order(name) == 0 }
    guard !named.isEmpty || !ofPerson.isEmpty else { throw SyncError(.noDevice, name) }
    if named.isEmpty { return ofPerson }
    guard named.count == 1, ofPerson.isEmpty || ofPerson == named else {
      throw Self.severalDevices(name, named + ofPerson.filter { !named.contains($0) })
    }
    return named
  }

  /// The error that lists the devices of a name.
  package static func severalDevices(_ name: String, _ records: [DeviceRecord]) -> SyncError {
    SyncError(.severalDevices, "\(name): \(records.map(\.shortIdentifier).sorted().joined(separator: ", "))")
  }

  /// Whether the words of what this device has read tell something about a log for which it has stopped.
  package func canCompare(after halt: Halt) -> Bool {
    halt == state.replica.halt && halt != .removed && halt != .notAMember && state.replica.count > 0
  }

  /// Why a change of the members is not in the log.
  /// - Parameters:
  ///   - ids: The devices that it was about.
  ///   - isRemoval: Whether they were to be removed.
  package func refusal(_ ids: [Identifier], isRemoval: Bool = false) -> SyncError {
    if isRemoval, ids.contains(state.replica.id) { return SyncError(.ownDevice) }
    let membership = state.replica.membership
    let isOwner = membership[state.replica.id]?.role == .owner
    let hasOwner = membership.devices.values.contains { $0.role == .owner && !ids.contains($0.id) }
    return SyncError(isOwner && !hasOwner ? .lastOwner : .notAllowed)
  }

  /// Sends the deletions that wait, or takes them back.
  /// - Throws: errors of the files.
  package func decideDeletions(areSent: Bool) throws {
    try change { state in
      if areSent { state.replica.acceptDeletions() } else { state.replica.discardDeletions() }
    }
  }

  /// Leaves the own history for that of the engine. Section 3.3 of docs/sync-format.md.
  /// - Throws: `Halt`; errors of the engine and of the files.
  package func acceptHistory(of engine: any Engine) throws {
    let replica = try state.replica.acceptingHistory(of: engine)
    files.forgetEntries()
    (state.replica, state.garbage) = (replica, GarbageCollection())
    // The engine may lack the large values of the former history.
    _ = compareObjects()
    try save()
  }

  /// Removes the items of the space from the vault for good, with their former versions and the removed items of its groups, and forgets
  /// the space. Items that only this device has stay, and those with a value that was not sent, without their former versions.
  /// - Returns: How many items were removed, and how many stay for such a value.
  func erase() throws -> (removed: Int, kept: Int) {
    let items = try SharedItems(of: state.groups, in: keychain)
    let known = items.entries.filter { state.replica.state[EntityKey(.item, $0.key)]?.exists == true }
    let kept = known.keys.filter { tag in
      state.replica.pending[EntityKey(.item, tag)].contains { $0.operation[.content] != nil || $0.operation[.secret] != nil }
    }
    for (tag, entry) in known {
      do {
        if kept.contains(tag) { try keychain.purge(entry.reference) } else { try keychain.removeForGood(entry.reference) }
      } catch let error as KeychainError where error.code == .notFound {}
    }
    for group in state.groups.subtracting(items.missingGroups) { _ = try keychain.purgeExpired(in: group, removedItems: true) }
    // The keys first: a kill before that leaves the rest to the next pass.
    try keys.remove(from: keychain)
    try files.remove()
    return (known.count - kept.count, kept.count)
  }

  /// Removes the files, and the keys from the vault. The keys go last: without them no command finds files that a kill has left.
  /// - Throws: as `Keychain.removeForGood`; errors of the files.
  package func forget() throws {
    try files.remove()
    try keys.remove(from: keychain)
  }
}
