import CofferConsole
import CofferLifecycle
import CofferStorage
import SecretMemory
import VaultCore
import VaultUpkeep

/// New keys for a vault: backup, a new master key, new keys for groups, a check at the end. Other programs read and write meanwhile.
struct RotationWork {
  let options: RotationOptions
  let vault: VaultOptions
  let place: VaultPlace
  /// The groups that get new keys; nil for all.
  var groups: [AccessGroup]?
  var renewsMaster = true
  var isMasterOnly = false
  /// Whether the backup opens with a credential that others have.
  var isLeaked = false
  /// The cost of the credential that opened the vault, or the one in its place; nil: as it is.
  var newKDF: KDFParameters?

  /// - Parameters:
  ///   - replaced: The credential that takes the place of the one that opened the vault.
  func run(_ credential: borrowing Credential, replaced: ((SlotDescription) throws -> Credential)? = nil) throws {
    let opened = try Vault.open(
      place.store, with: credential, ceiling: vault.ceiling, anchor: place.anchor, deviceKey: try place.deviceKey())
    // A slip in the credential of another slot is not one in this one, which is not asked for again.
    do { try rotate(opened, credential, replaced) } catch { throw Failure(error, about: place.path) }
  }

  private func rotate(
    _ opened: consuming Vault, _ credential: borrowing Credential, _ replaced: ((SlotDescription) throws -> Credential)?
  ) throws {
    let status = try opened.status()
    var slots = try SlotRenewal(options, isInputAllowed: !vault.noInput)
    let kept = try renewsMaster ? slots.kept(of: status.slots, opened: opened.openedSlot) : []
    // First: a walk that meets a damaged record names that one, and this lists all.
    let unavailable = try check(opened)
    let wanted = try wantedGroups(opened)
    let costs = try renewsMaster ? slots.costs(of: kept, opened.openedSlot, newKDF, opened.limits(), vault.ceiling) : [:]
    try confirm(wanted)
    var renewal = try MasterKeyRenewal(of: status)
    if renewsMaster {
      for slot in kept {
        let kdf = costs[slot.index] ?? .standard
        guard slot.id == opened.openedSlot.id else {
          try slots.seal(slot, kdf, in: place.store, vault.ceiling, &renewal)
          continue
        }
        if let replaced {
          try renewal.seal(slot, under: try replaced(slot), kdf: kdf)
        } else {
          try renewal.seal(slot, under: credential, kdf: kdf)
        }
      }
    }
    let work = try LongWork("copying")
    let backup = try about(place.backups.path) {
      try Backup.make(of: place.store, at: .directory(place.backups), now: .now(), step: { try work.step($0, of: $1) })
    }
    if renewsMaster {
      try work.pause()
      for key in slots.recoveryKeys { try key.deliver(isInputAllowed: !vault.noInput) }
      try NewRecoveryKey.counting(slots.recoveryKeys) { try renewal.commit(to: &opened, deviceKey: place.deviceKey()) }
    }
    let step = { (done: UInt64, total: UInt64) throws in
      do { try work.step(done, of: total) } catch { throw Self.interrupted }
    }
    for group in wanted {
      try work.begin("re-key of \(group.name)")
      try opened.rekey(group, leavingOthers: unavailable > 0, step: step)
    }
    try work.begin("checking")
    let result = try opened.verify(progress: step)
    guard result.isSound else { throw Failure.unsound(result, about: place.path) }
    opened.saveAnchor()
    work.end()
    place.backups.prune(keeping: [backup.path ?? ""])
    try finish(try opened.status(), wanted.count, backup)
    opened.finish()
  }

  private static let interrupted = Failure(
    .cancelled, "interrupted: new keys that were made stay", hint: "coffer vault rotate goes on with the rest")

  /// Those of unfinished re-keys first.
  private func wantedGroups(_ opened: borrowing Vault) throws -> [AccessGroup] {
    let unfinished = try opened.unfinishedRekeys().map(\.group)
    for group in groups ?? [] { try opened.checkExists(group, hint: "--group names one of these") }
    let others = try groups ?? (isMasterOnly ? [] : opened.groups())
    return unfinished + others.filter { !unfinished.contains($0) }
  }

  /// - Returns: How many items do not open here.
  private func check(_ opened: borrowing Vault) throws -> UInt64 {
    let work = try LongWork("checking")
    defer { work.end() }
    let result = try opened.verify { try work.step($0, of: $1) }
    guard result.isSound else { throw Failure.unsound(result, about: place.path, hint: "coffer vault repair, then rotate") }
    guard result.unavailableCount == 0 || options.leaveDeviceItems || isMasterOnly else {
      throw Failure(
        .locked, "\(place.path): \(result.unopened); nothing has been changed",
        hint: "rotate where the device key is, or leave them their keys: --leave-device-items")
    }
    return result.unavailableCount
  }

  private func confirm(_ wanted: [AccessGroup]) throws {
    guard !options.force, !vault.noInput, Descriptor.input.isTerminal else { return }
    let parts = (renewsMaster ? ["the master key"] : []) + (wanted.isEmpty ? [] : [counted(wanted.count, "group")])
    guard try Question.isYes("Make new keys for \(parts.joined(separator: " and "))? [y/N] ") else { throw Failure.cancelled }
  }

  private func finish(_ status: VaultStatus, _ groupCount: Int, _ backup: Backup) throws {
    let isFolded = try place.store.checkpoint()
    try Descriptor.output.write(
      "generation \(status.generation), master key \(status.masterEpoch): \(counted(status.slots.count, "slot")), "
        + "\(counted(groupCount, "group")) with new keys\n")
    if !isFolded {
      Descriptor.error.note("note: another program reads the vault; its log beside the file still has rows under old keys\n")
    }
    var names = place.backups.names
    if isLeaked, !options.keepBackup, let path = backup.path {
      try place.backups.remove(path)
      names = place.backups.names
    }
    if !names.isEmpty {
      Descriptor.error.note("note: backups open with the credentials and keys of their time:\n")
      for name in names { Descriptor.error.note("  \(place.backups.path(of: name).escapingControls())\n") }
    }
    Descriptor.error.note("note: a value that others may have read is to be changed where it is used\n")
  }
}
