package import CofferStorage
import SecretMemory
package import VaultCore
import VaultUpkeep

/// New keys for a vault: a check, a backup, a new master key, new keys for groups, a check at the end. Other programs read and write
/// meanwhile.
package struct Rotation {
  /// How often a credential is tried for one slot.
  private static let attempts = 3

  private let store: FileStore
  private let backups: BackupDirectory
  private let order: RotationOrder
  private let ceiling: KDFCeiling
  private let lock: MaintenanceLock?

  /// - Parameters:
  ///   - ceiling: The highest cost of a slot that this machine, or that of the client, opens.
  ///   - lock: The maintenance lock of the vault; nil: it is taken when nothing is left to be asked.
  package init(
    of store: FileStore, backups: BackupDirectory, _ order: RotationOrder, ceiling: KDFCeiling, holding lock: MaintenanceLock?
  ) {
    (self.store, self.backups, self.order, self.ceiling, self.lock) = (store, backups, order, ceiling, lock)
  }

  /// - Parameters:
  ///   - opened: The vault, opened with a credential of one of its slots.
  ///   - deviceKeys: The files of the key of this device.
  /// - Throws: `DamagedVault`; `LifecycleError`: `policyDamaged`, `openedSlotDropped`, `itemsOfOtherDevices`, `otherCredential`,
  ///   `changedMeanwhile`; as `Backup.make`, `MasterKeyRenewal.commit`, `Vault.rekey`, `DeviceKeyFiles.load`; the errors of `party`.
  package func carryOut(
    on opened: inout Vault, _ deviceKeys: DeviceKeyFiles, now: Timestamp, with party: some RotationParty
  ) throws -> RotationOutcome {
    let status = try opened.status()
    let plan = try plan(for: opened, status, party)
    try party.agree(to: plan)
    var renewal = try MasterKeyRenewal(of: status)
    for slot in plan.slots { try seal(slot, &renewal, party) }
    guard try lock != nil || !MaintenanceLock.isHeld(forVaultAt: store.path) else {
      throw StorageError(.maintenance, store.path)
    }
    let old = OldBackups(in: backups, ofVaultAt: store.path, status.id)
    try party.begin("copying")
    let backup = try Backup.make(
      of: store, at: .directory(backups, order.removesBackup ? .rotation : .ordinary), now: now,
      step: { try party.step($0, of: $1) })
    let kept = backup.path ?? backups.path
    let lock: MaintenanceLock
    do {
      try party.prepare(backup: kept)
      // A person may have taken long: no other work has waited for them.
      lock = try self.lock ?? MaintenanceLock(forVaultAt: store.path)
      try deviceKeys.settle(for: opened)
      if order.renewsMaster { try commit(renewal, to: &opened, deviceKeys, party) }
    } catch {
      // If the vault is as it was, a copy would open with the credentials of before also after the next rotation.
      let isUnchanged = (try? Vault.inspect(store).masterEpoch) == status.masterEpoch
      if isUnchanged, !(StorageError(.inDoubt) ~= error) { try? backups.remove(kept) }
      throw error
    }
    defer { withExtendedLifetime(lock) {} }
    if order.renewsDevice {
      try party.begin("new key of the device")
      try deviceKeys.takeNext()
    }
    // With a new master key, all groups that were there in its commit have marks, also those that another program has made or renamed since
    // the plan.
    let isWhole = order.renewsMaster && !order.isMasterOnly
    let groupCount = try isWhole ? opened.groups().count : plan.groups.count
    if groupCount > 0 {
      try party.begin("re-key")
      try opened.rekey(isWhole ? [] : plan.groups) { try party.step($0, of: $1) }
    }
    let generation = try opened.status().generation
    try party.begin("checking")
    try check(opened, party)
    opened.saveAnchor()
    let restsReason = try foldWithoutRests()
    let removed = old.remove(order, keeping: kept, before: generation)
    backups.prune(keeping: [kept])
    let now = try opened.status()
    return RotationOutcome(
      generation: now.generation, masterEpoch: now.masterEpoch, slotCount: now.slots.count, groupCount: groupCount,
      restsReason: restsReason, removed: removed, left: old.left, deviceKey: order.renewsDevice ? deviceKeys.own.path : nil,
      sharedDeviceKey: try order.renewsDevice && deviceKeys.shared.load() != nil ? deviceKeys.shared.path : nil)
  }

  /// The new rows are all in the file. Another connection rebuilds it, because a failure of that changes no row, and this one goes on.
  /// - Returns: Why bytes that open under old keys may be left in the file or its log; nil if there are none.
  private func foldWithoutRests() throws -> StorageError.Code? {
    var reason: StorageError.Code?
    do { try FileStore(at: store.path).rebuild() } catch { reason = (error as? StorageError)?.code ?? .io }
    do {
      return try store.checkpoint() ? reason : reason ?? .busy
    } catch let error as StorageError where error.code == .busy || error.code == .full {
      return reason ?? error.code
    }
  }

  // MARK: Before anything is changed

  private func plan(
    for opened: borrowing Vault, _ status: VaultStatus, _ party: some RotationParty
  ) throws -> RotationPlan {
    guard !order.droppedSlots.contains(opened.openedSlot.index) else {
      throw LifecycleError(.openedSlotDropped, "\(opened.openedSlot.index)")
    }
    let limits = try limits(of: opened)
    // A walk that meets a damaged record names that one, and this lists all.
    try party.begin("checking")
    let unavailable = try check(opened, party).unavailableCount
    guard unavailable == 0 || order.leavesDeviceItems || order.isMasterOnly && !order.renewsDevice else {
      throw LifecycleError(.itemsOfOtherDevices, "\(unavailable)")
    }
    let slots = try order.renewsMaster ? slots(of: status, opened.openedSlot, limits) : []
    return RotationPlan(slots: slots, groups: try groups(of: opened))
  }

  /// - Throws: `policyDamaged`: the policy is sealed anew, or the vault loses it.
  private func limits(of opened: borrowing Vault) throws -> Limits {
    do { return try opened.limits() } catch let error as VaultError {
      guard error.code.concernsOneRecord else { throw error }
      throw LifecycleError(.policyDamaged, error.code.name)
    }
  }

  @discardableResult
  private func check(_ opened: borrowing Vault, _ party: some RotationParty) throws -> Verification {
    let result = try opened.verify { try party.step($0, of: $1) }
    guard result.isIntact else { throw DamagedVault(verification: result) }
    return result
  }

  /// - Throws: `kdfAboveCeiling`, with the slot.
  private func slots(of status: VaultStatus, _ opened: SlotDescription, _ limits: Limits) throws -> [RotationPlan.Slot] {
    try status.slots.filter { !order.droppedSlots.contains($0.index) }.map { slot in
      let isOpened = slot.id == opened.id
      var kdf = KDFParameters.standard
      if let present = slot.kdf {
        do throws(VaultError) {
          kdf = try limits.cost(isOpened ? order.kdf ?? present : present, ceiling: ceiling)
        } catch {
          throw VaultError(error.code, "slot \(slot.index)")
        }
      }
      return RotationPlan.Slot(
        slot, kdf: kdf, isOpened: isOpened,
        isNewRecoveryKey: slot.type == .recoveryKey && (!isOpened || order.renewsRecoveryKey))
    }
  }

  private func groups(of opened: borrowing Vault) throws -> [AccessGroup] {
    let unfinished = try opened.unfinishedRekeys().map(\.group)
    let all = try opened.groups()
    for group in order.groups ?? [] where !all.contains(group) { throw VaultError(.groupNotFound, group.name) }
    let others = order.groups ?? (order.isMasterOnly ? [] : all)
    return unfinished + others.filter { !unfinished.contains($0) }
  }

  // MARK: The master key

  private func seal(
    _ slot: RotationPlan.Slot, _ renewal: inout MasterKeyRenewal, _ party: some RotationParty
  ) throws {
    for _ in 0..<Self.attempts {
      let given = try party.credentials(for: slot)
      guard given.new.slotType == slot.description.type, try opens(given.present, slot) else { continue }
      return try renewal.seal(slot.description, under: given.new, kdf: slot.kdf)
    }
    throw LifecycleError(.otherCredential, "\(slot.description.index)")
  }

  private func opens(_ credential: borrowing Credential?, _ slot: RotationPlan.Slot) throws -> Bool {
    switch credential {
    case .some(let credential): try MasterKeyRenewal.opens(slot.description, of: store, with: credential, ceiling)
    case .none: slot.isOpened || slot.isNewRecoveryKey
    }
  }

  /// The commit of the master key seals the boxes of this device anew: a program that has the vault open has the device key of before, and
  /// forgets it together with the master key.
  private func commit(
    _ renewal: borrowing MasterKeyRenewal, to opened: inout Vault, _ deviceKeys: DeviceKeyFiles, _ party: some RotationParty
  ) throws {
    do {
      if order.renewsDevice { try deviceKeys.prepareNext(for: &opened) }
      try party.excluding {
        let key = try order.renewsDevice ? deviceKeys.next.load() : deviceKeys.load(for: opened)
        try renewal.commit(to: &opened, deviceKey: key, replacing: order.isMasterOnly ? [] : nil)
      }
    } catch VaultError.Code.noSuchSlot {
      deviceKeys.dropNext(of: opened)
      throw LifecycleError(.changedMeanwhile, store.path)
    } catch {
      deviceKeys.dropNext(of: opened)
      throw error
    }
  }
}
