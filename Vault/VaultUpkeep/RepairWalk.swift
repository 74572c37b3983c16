import SecretMemory
import VaultCore

/// The walk behind `Vault.repairPlan`: decides about each row. Groups come first, because items take their keys.
final class RepairWalk {
  private let state: ProvenState
  /// The state of the backup, proven by the same keys.
  private let backup: ProvenState?
  private let acceptsUnproven: Bool
  private let progress: ((UInt64, UInt64) throws -> Void)?
  private(set) var plan = RepairPlan()
  /// Everything that the vault has afterwards.
  private(set) var leaves: [Identifier: Digest] = [:]
  private(set) var restored: [Identifier: SealedRecord] = [:]
  /// Rows that go.
  private(set) var dropped: Set<Identifier> = []
  /// All that open. Items are opened with those of `droppedGroups`, and do not stay.
  private(set) var groups: [Identifier: GroupKeys] = [:]
  private var droppedGroups: Set<Identifier> = []
  var keptGroups: [GroupKeys] { groups.values.filter { !droppedGroups.contains($0.groupID) } }
  /// The former versions that kept items and heads name, by owner.
  private(set) var named: [Identifier: [Identifier]] = [:]
  /// For a head, the generation that removed the item.
  private(set) var owners: [Identifier: (group: Identifier, removed: UInt64?)] = [:]
  /// The kept items.
  private(set) var items: Set<Reference> = []
  /// Kept former versions, with their groups and classes.
  private(set) var former: [Identifier: (group: Identifier, accessibility: Accessibility)] = [:]

  private var listedNodes: Set<[UInt8]> = []
  private var brokenNodes: [[UInt8]] = []
  private var met: Set<Identifier> = []
  private var leafCount: UInt64 = 0

  init(_ state: ProvenState, backup: ProvenState?, acceptsUnproven: Bool, progress: ((UInt64, UInt64) throws -> Void)?) {
    (self.state, self.backup, self.acceptsUnproven, self.progress) = (state, backup, acceptsUnproven, progress)
  }

  func run() throws {
    for range: ClosedRange<UInt8> in [0x00...0x00, 0x01...0xFF] {
      func passed(_ id: Identifier?, _ row: Result<RecordHead, VaultError>) throws { try unlisted(id, row, range) }
      try state.forEachListed(range, visit: visit, unlisted: passed) { id, leaf, row in
        leafCount += 1
        if leafCount % 1024 == 0 { try progress?(leafCount, state.header.recordCount) }
        try decide(id, leaf, row)
      }
      try addFromBackup(range)
    }
    try state.rows.forEachNode { prefix in if !listedNodes.contains(prefix) { plan.nodeCount += 1 } }
    plan.isMiscounted = brokenNodes.isEmpty && leafCount != state.header.recordCount
    plan.records.sort { $0.id < $1.id }
    let all = Set(named.values.joined())
    plan.historyFaultCount = all.count { leaves[$0] == nil } + orphans.count
    plan.makesStandardGroup = !keptGroups.contains { $0.group == .standard }
    plan.keptCount = UInt64(leaves.count - restored.count - plan.count(.accepted))
  }

  /// Former versions that no kept item names. Those of an item that does not open here are not known.
  var orphans: [Identifier: (group: Identifier, accessibility: Accessibility)] {
    let all = Set(named.values.joined())
    return former.filter { !all.contains($0.key) && !(plan.unopenedCount > 0 && $0.value.accessibility.isThisDeviceOnly) }
  }

  private func visit(_ prefix: [UInt8], _ error: VaultError?) {
    guard listedNodes.insert(prefix).inserted, error != nil else { return }
    brokenNodes.append(prefix)
    plan.nodeCount += 1
  }

  private func isBelowDamage(_ id: Identifier) -> Bool { brokenNodes.contains { id.prefix($0.count) == $0 } }

  private func unlisted(_ id: Identifier?, _ row: Result<RecordHead, VaultError>, _ range: ClosedRange<UInt8>) throws {
    // Two scans pass over it.
    if id == nil, !range.contains(0) { plan.namelessCount += 1 }
    guard let id, range.contains(id.byte(at: 0)) else { return }
    guard isBelowDamage(id) else {
      dropped.insert(id)
      return plan.records.append(RepairedRecord(id: id, outcome: .removed))
    }
    try decide(id, nil, row)
  }

  /// - Parameter leaf: nil for a row below a damaged node.
  private func decide(_ id: Identifier, _ leaf: Digest?, _ row: Result<RecordHead, VaultError>) throws {
    if !brokenNodes.isEmpty { met.insert(id) }
    var found = RepairedRecord(id: id, outcome: .lost)
    if let record = try? row.get() { describe(record, &found) }
    do {
      let record = try row.get()
      if let leaf { try state.prove(record, id: id, leaf: leaf) }
      let opened = try open(record, state.secret(of: record), isProven: leaf != nil)
      if leaf != nil, !droppedGroups.contains(record.group) { return keep(record, opened) }
      if case .group(let group) = opened { found.group = group.group }
      if try takeFromBackup(id, found) { return }
      found.outcome = acceptsUnproven ? .accepted : .unproven
      if acceptsUnproven { keep(record, opened) } else { drop(id, opened) }
    } catch let error as VaultError where error.code.concernsOneRecord || error.code.meansSealedElsewhere {
      (found.reason, found.outcome) = (error.code, error.code.meansSealedElsewhere ? .unproven : .lost)
      if try takeFromBackup(id, found) { return }
      dropped.insert(id)
    }
    plan.records.append(found)
  }

  /// A row here that may be the right one, because it opens, or would with another key, is not replaced by an older one unseen: the plan says
  /// so, and one that opens stays if unproven rows are accepted.
  private func takeFromBackup(_ id: Identifier, _ here: RepairedRecord) throws -> Bool {
    guard let backup else { return false }
    do {
      guard let record = try backup.record(id), !droppedGroups.contains(record.group) else { return false }
      let sealed = SealedRecord(record, secret: try backup.secret(of: record))
      let opened = try open(record, sealed.secret, isProven: true)
      var old = here
      old.outcome = .fromBackup
      describe(record, &old)
      if case .group(let group) = opened { old.group = group.group }
      if here.reason?.meansSealedElsewhere ?? true, here.generation ?? 0 > old.generation ?? 0 { old.replaced = here.generation }
      let stays = old.replaced != nil && acceptsUnproven && here.reason == nil
      guard !stays, !wasRemoved(id, opened, after: old.generation) else { return false }
      plan.records.append(old)
      restored[id] = sealed
      keep(record, opened)
      return true
    } catch is VaultError {
      return false
    }
  }

  /// Whether the head of a removed item stays, newer than the item of the backup.
  private func wasRemoved(_ id: Identifier, _ opened: Opened, after generation: UInt64?) -> Bool {
    guard case .item(_, let group) = opened, let removed = owners[group.historyID(id, .max)]?.removed else { return false }
    return removed > generation ?? 0
  }

  /// Records of the backup of which nothing is left here: the node that listed them is damaged.
  private func addFromBackup(_ range: ClosedRange<UInt8>) throws {
    guard let backup, !brokenNodes.isEmpty else { return }
    var missing: [Identifier] = []
    try backup.forEachListed(
      range, visit: { _, _ in },
      { id, _, _ in if isBelowDamage(id), !met.contains(id) { missing.append(id) } })
    for id in missing { _ = try takeFromBackup(id, RepairedRecord(id: id, outcome: .lost, reason: .recordMissing)) }
  }

  // MARK: One record

  private enum Opened {
    case group(GroupKeys)
    case item([FormerVersion], GroupKeys)
    case head([FormerVersion], GroupKeys, removed: UInt64)
    case former(GroupKeys, Accessibility)
    case other
  }

  /// - Parameter isProven: Whether a record that does not open here for want of a key may be kept.
  private func open(_ record: RecordHead, _ secret: [UInt8], isProven: Bool) throws -> Opened {
    let meta = try RecordMeta(parsing: record, header: state.header)
    switch meta.kind {
    case .group:
      let group = try state.keys.openGroup(record, secret: secret, meta: meta)
      guard !keptGroups.contains(where: { $0.groupID == group.groupID }) else { throw VaultError(.groupMalformed, "gid twice") }
      return .group(group)
    case .item, .history:
      guard let group = groups[record.group] else { throw VaultError(.unknownGroup) }
      do {
        _ = try state.openSecret(secret, of: record, meta: meta, group: group)
        guard meta.kind == .history else { return .item(try state.openItem(record, meta: meta, group: group).former, group) }
        let version = try state.openFormer(record, in: group)
        guard version.isRemoved else { return .former(group, meta.accessibility) }
        return .head(version.former, group, removed: meta.version)
      } catch let error as VaultError where isProven && error.code.meansSealedElsewhere {
        plan.unopenedCount += 1
        return .other
      }
    case .accessRule: _ = try state.openAccessRule(record, secret: secret)
    case .policy: _ = try state.openLimits(record, secret: secret)
    case .alias: guard isProven else { throw VaultError(.recordMalformed, "a record of a later version") }
    }
    return .other
  }

  private func keep(_ record: RecordHead, _ opened: Opened) {
    leaves[record.id] = state.keys.integrity.leaf(record)
    switch opened {
    case .group(let group):
      groups[group.groupID] = group
      // The backup has it under the name of before.
      droppedGroups.remove(group.groupID)
    case .item(let versions, let group): own(versions, record.id, group, removed: nil)
    case .head(let versions, let group, let removed): own(versions, record.id, group, removed: removed)
    case .former(let group, let accessibility): former[record.id] = (group.groupID, accessibility)
    case .other: break
    }
  }

  private func drop(_ id: Identifier, _ opened: Opened) {
    dropped.insert(id)
    guard case .group(let group) = opened else { return }
    groups[group.groupID] = group
    droppedGroups.insert(group.groupID)
  }

  private func own(_ versions: [FormerVersion], _ owner: Identifier, _ group: GroupKeys, removed: UInt64?) {
    owners[owner] = (group.groupID, removed)
    if removed == nil { items.insert(Reference(group: group.group, id: owner)) }
    named[owner] = versions.map { group.historyID($0.origin, $0.number) }
  }

  /// As far as it can be read.
  private func describe(_ record: RecordHead, _ found: inout RepairedRecord) {
    guard let meta = try? RecordMeta(parsing: record, header: state.header) else { return }
    (found.kind, found.generation) = (meta.kind, meta.version)
    guard let group = groups[record.group] else { return }
    found.group = group.group
    switch meta.kind {
    case .item: found.item = try? state.openItem(record, meta: meta, group: group).item
    case .history: found.item = try? state.openFormer(record, in: group).item
    default: break
    }
  }
}
