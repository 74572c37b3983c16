package import CofferLifecycle
package import CofferRequests
internal import CofferStorage
internal import SecretMemory
package import VaultCore

extension RotationOrder {
  var wireRow: Attributes {
    var row = Attributes()
    if let groups {
      row["groups"] = .integer(UInt64(groups.count))
      for (number, group) in groups.enumerated() { row["group-\(number)"] = .text(group.name) }
    }
    row["master-only"] = .integer(isMasterOnly ? 1 : 0)
    row["device-key"] = .integer(renewsDevice ? 1 : 0)
    row["dropped"] = .data(droppedSlots.sorted().map { UInt8(clamping: $0) })
    row["recovery-key"] = .integer(renewsRecoveryKey ? 1 : 0)
    row["leave-device-items"] = .integer(leavesDeviceItems ? 1 : 0)
    row["leaked"] = .integer(isLeaked ? 1 : 0)
    row["keep-backup"] = .integer(keepsBackup ? 1 : 0)
    row["prune-backups"] = .integer(prunesBackups ? 1 : 0)
    if let kdf { row.set(kdf) }
    return row
  }

  /// - Throws: `field`; `kdfBelowFloor`.
  init(_ fields: inout Fields) throws {
    self.init()
    if let count = try fields.integer("groups") {
      var groups: [AccessGroup] = []
      // A frame has room for few, and the first one that is missing ends it.
      for number in 0..<count { groups.append(try fields.requiredGroup("group-\(number)")) }
      self.groups = groups
    }
    isMasterOnly = try fields.flag("master-only")
    renewsDevice = try fields.flag("device-key")
    droppedSlots = Set(try Fields.required("dropped", try fields.data("dropped")).map { Int($0) })
    renewsRecoveryKey = try fields.flag("recovery-key")
    leavesDeviceItems = try fields.flag("leave-device-items")
    isLeaked = try fields.flag("leaked")
    keepsBackup = try fields.flag("keep-backup")
    prunesBackups = try fields.flag("prune-backups")
    if fields.has("iterations") { kdf = try fields.kdf() }
  }
}

extension RotationPlan.Slot {
  /// The slot in the first, and the plan for it in the second.
  package var wireRows: [Attributes] {
    var plan = Attributes()
    plan.set(kdf)
    plan["opened"] = .integer(isOpened ? 1 : 0)
    plan["new-recovery-key"] = .integer(isNewRecoveryKey ? 1 : 0)
    return [description.wireRow, plan]
  }

  /// - Throws: `field`, `malformed`; `kdfBelowFloor`.
  package init(wireRows rows: [Attributes]) throws {
    guard rows.count == 2 else { throw WireError(.malformed, "a slot") }
    let slot = try SlotDescription(wireRow: rows[0])
    var fields = Fields(rows[1])
    let kdf = try fields.kdf()
    let isOpened = try fields.flag("opened")
    self.init(slot, kdf: kdf, isOpened: isOpened, isNewRecoveryKey: try fields.flag("new-recovery-key"))
    try fields.end()
  }
}

extension RotationPlan {
  /// The number of the groups in the first, then a row for each of them, and two for each slot.
  package var wireRows: [Attributes] {
    var count = Attributes()
    count["groups"] = .integer(UInt64(groups.count))
    let names = groups.map { group in
      var row = Attributes()
      row["group"] = .text(group.name)
      return row
    }
    return [count] + names + slots.flatMap(\.wireRows)
  }

  /// - Throws: as `Slot`.
  package init(wireRows rows: [Attributes]) throws {
    guard let first = rows.first else { throw WireError(.malformed, "no plan") }
    var fields = Fields(first)
    let count = try fields.requiredInteger("groups")
    try fields.end()
    guard count < rows.count, (rows.count - 1 - Int(count)).isMultiple(of: 2) else { throw WireError(.field, "groups") }
    let groups = try rows.dropFirst().prefix(Int(count)).map { row in
      var fields = Fields(row)
      let group = try fields.requiredGroup("group")
      try fields.end()
      return group
    }
    let pairs = Array(rows.dropFirst(1 + Int(count)))
    self.init(
      slots: try stride(from: 0, to: pairs.count, by: 2).map { try Slot(wireRows: [pairs[$0], pairs[$0 + 1]]) }, groups: groups)
  }
}

extension UpkeepQuestion {
  /// The backup is there, and recovery keys are to be written down.
  package static func prepared(backup: String) -> UpkeepQuestion {
    var row = Attributes()
    row["backup"] = .text(backup)
    return UpkeepQuestion(.shown, [row])
  }

  /// - Throws: `field`, `malformed`.
  package static func backup(in rows: [Attributes]) throws(WireError) -> String {
    guard rows.count == 1 else { throw WireError(.malformed, "no backup") }
    var fields = Fields(rows[0])
    let path = try fields.requiredText("backup")
    try fields.end()
    return path
  }
}

extension RotationOutcome {
  /// The counts in the first, then the paths.
  package var wireRows: [Attributes] {
    var counts = Attributes()
    counts["generation"] = .integer(generation)
    counts["master-epoch"] = .integer(UInt64(masterEpoch))
    counts["slots"] = .integer(UInt64(slotCount))
    counts["groups"] = .integer(UInt64(groupCount))
    counts["rests-reason"] = restsReason.map { .text($0.rawValue) }
    counts["removed"] = .integer(UInt64(removed.count))
    counts["device-key"] = deviceKey.map { .text($0) }
    counts["shared-device-key"] = sharedDeviceKey.map { .text($0) }
    let paths = (removed + left).map { path in
      var row = Attributes()
      row["path"] = .text(path)
      return row
    }
    return [counts] + paths
  }

  /// - Throws: `field`, `malformed`.
  package init(wireRows rows: [Attributes]) throws(WireError) {
    guard let first = rows.first else { throw WireError(.malformed, "no outcome") }
    var fields = Fields(first)
    let (generation, epoch) = (try fields.requiredInteger("generation"), try fields.requiredInteger("master-epoch"))
    let (slots, groups) = (try fields.requiredInteger("slots"), try fields.requiredInteger("groups"))
    let (reason, removed) = (try fields.text("rests-reason"), try fields.requiredInteger("removed"))
    let restsReason = try reason.map { (name) throws(WireError) in
      try Fields.required("rests-reason", StorageError.Code(rawValue: name))
    }
    let (deviceKey, sharedDeviceKey) = (try fields.text("device-key"), try fields.text("shared-device-key"))
    try fields.end()
    let paths = try rows.dropFirst().map { (row) throws(WireError) in
      var fields = Fields(row)
      let path = try fields.requiredText("path")
      try fields.end()
      return path
    }
    guard removed <= paths.count else { throw WireError(.field, "removed") }
    self.init(
      generation: generation, masterEpoch: UInt32(clamping: epoch), slotCount: Int(clamping: slots),
      groupCount: Int(clamping: groups), restsReason: restsReason, removed: Array(paths.prefix(Int(removed))),
      left: Array(paths.dropFirst(Int(removed))), deviceKey: deviceKey, sharedDeviceKey: sharedDeviceKey)
  }
}
