import SecretMemory
package import VaultCore

/// Repair of a vault whose header proves: each record that is proven stays, and the tree is built anew.
extension Vault {
  /// Computes the outcome of `repair`. Nothing is changed.
  /// - Parameters:
  ///   - backup: An earlier state of the same vault, from which lost records are taken.
  ///   - acceptsUnproven: Whether records below damaged nodes are kept.
  ///   - progress: Called now and then with the records done and the records in all. An error that it throws ends the walk.
  /// - Throws: faults of the header and of the slots; `repairFromOtherVault`, `repairFromNewer`; `columnMismatch` for a row without an
  ///   identifier; what the stores throw.
  package borrowing func repairPlan(
    from backup: (any Store)?, acceptsUnproven: Bool, progress: ((UInt64, UInt64) throws -> Void)? = nil
  ) throws -> RepairPlan {
    try reading { state, _ in try Self.walk(state, backup, acceptsUnproven, progress) { $0.plan } }
  }

  /// Carries out a plan in one commit.
  /// - Parameters:
  ///   - now: The time of a group that is made.
  ///   - progress: As for `repairPlan`. If it throws, nothing is changed.
  ///   - finish: Called with the items that are kept, for changes in the same commit.
  /// - Throws: `repairPlanOutdated` if the plan would be another one by now; `unknownReadOnlyFlag`; as `repairPlan`; the error of `finish`.
  package mutating func repair(
    _ agreed: RepairPlan, from backup: (any Store)?, acceptsUnproven: Bool, at now: Timestamp,
    progress: ((UInt64, UInt64) throws -> Void)? = nil, finish: (inout Transaction, Set<Reference>) throws -> Void = { _, _ in }
  ) throws {
    let keyring = keyring
    var committed: SealedHeader?
    try store.commit { rows in
      var transaction = try Transaction(proving: rows, keyring: keyring)
      // The walk is one half of the work, and the tree the other.
      let walked = progress.map { step in { (done: UInt64, total: UInt64) in try step(done, 2 * total) } }
      return try Self.walk(transaction.state, backup, acceptsUnproven, walked) { walk in
        guard walk.plan == agreed else { throw VaultError(.repairPlanOutdated) }
        let (change, header) = try Self.rebuild(walk, &transaction, rows, now, progress, finish)
        committed = header
        return change
      }
    }
    if let committed { keyring.adopt(committed) }
    saveAnchor()
  }

  private static func walk<Result>(
    _ state: ProvenState, _ backup: (any Store)?, _ acceptsUnproven: Bool, _ progress: ((UInt64, UInt64) throws -> Void)?,
    _ body: (RepairWalk) throws -> Result
  ) throws -> Result {
    func walk(_ backup: ProvenState?) throws -> Result {
      let walk = RepairWalk(state, backup: backup, acceptsUnproven: acceptsUnproven, progress: progress)
      try walk.run()
      return try body(walk)
    }
    guard let backup else { return try walk(nil) }
    return try backup.read { rows in
      let past: ProvenState
      do { past = try ProvenState(proving: rows, keys: state.keys) } catch let error as VaultError {
        throw error.code == .headerForged ? VaultError(.repairFromOtherVault) : error
      }
      guard past.header.generation <= state.header.generation else { throw VaultError(.repairFromNewer) }
      return try walk(past)
    }
  }

  private static func rebuild(
    _ walk: RepairWalk, _ transaction: inout Transaction, _ rows: any Rows, _ now: Timestamp,
    _ progress: ((UInt64, UInt64) throws -> Void)?, _ finish: (inout Transaction, Set<Reference>) throws -> Void
  ) throws -> (Change, SealedHeader?) {
    var tree = TreeEditor(empty: rows, keys: transaction.keys.integrity)
    let total = UInt64(walk.leaves.count)
    for (index, leaf) in walk.leaves.sorted(by: { $0.key < $1.key }).enumerated() {
      if index % 1024 == 0 { try progress?(total + UInt64(index), 2 * total) }
      try tree.set(leaf.key, to: leaf.value)
    }
    transaction.tree = tree
    for (id, record) in walk.restored { try transaction.edit(id, record) }
    // A damaged file may have two rows of one identifier, of which one stays.
    for id in walk.dropped where walk.leaves[id] == nil { try transaction.edit(id, nil) }
    if walk.plan.makesStandardGroup { try transaction.createGroup(.standard, at: now) }
    // The tree that is there may not prove them, and an edit of an item begins with its group.
    if walk.plan.nodeCount > 0 || !walk.restored.isEmpty { for group in walk.keptGroups { try transaction.put(group) } }
    try transaction.mendHistory(walk)
    try finish(&transaction, walk.items)
    var (change, header) = try transaction.seal()
    change.removesNamelessRows = true
    try rows.forEachNode { prefix in if change.nodes[prefix] == nil { change.nodes[prefix] = .some(nil) } }
    return (change, header)
  }
}

extension Transaction {
  /// The list of each item names the former versions that are there, and each of these has an owner. The former versions of a lost item
  /// become those of an item that was removed, so that it can be restored. A head that comes from a backup, while its item was made anew,
  /// becomes a former version of the item.
  fileprivate mutating func mendHistory(_ walk: RepairWalk) throws {
    var added: [Identifier: [FormerVersion]] = [:]
    for (row, place) in walk.orphans.sorted(by: { $0.key < $1.key }) {
      guard let group = walk.groups[place.group], let found = try former(row, in: group) else { continue }
      let head = group.historyID(found.version.origin, .max)
      if let owner = [found.version.origin, head].first(where: { walk.owners[$0]?.group == place.group }) {
        added[owner, default: []].append(found.version)
      } else {
        try adopt(found, row, head, in: group)
      }
    }
    for (head, place) in walk.owners where place.removed != nil {
      guard let group = walk.groups[place.group], let found = try former(head, in: group) else { continue }
      let origin = found.version.origin
      guard walk.owners[origin]?.group == place.group else { continue }
      let item = try entry(Reference(group: group.group, id: origin))
      guard try demote(found, head, to: self.place(item.accessibility, in: group)) else { continue }
      let there = found.former.filter { walk.leaves[group.historyID($0.origin, $0.number)] != nil }
      added[origin, default: []] += [found.version] + there
    }
    for (owner, versions) in walk.named {
      guard let place = walk.owners[owner], let group = walk.groups[place.group] else { continue }
      guard added[owner] != nil || !versions.allSatisfy({ walk.leaves[$0] != nil }) else { continue }
      try reseal(owner, in: group, isHead: place.removed != nil, adding: added[owner] ?? []) { version in
        walk.leaves[group.historyID(version.origin, version.number)] != nil
      }
    }
  }

  /// A former version whose item is lost. The newest one of an item becomes its head, and the others its list.
  private mutating func adopt(_ found: FormerItem, _ row: Identifier, _ head: Identifier, in group: GroupKeys) throws {
    let place = try place(found.meta.accessibility, in: group)
    guard let there = try self.head(of: found.version.origin, in: group) else {
      guard let content = try content(row, in: group) else { return }
      try edit(row, nil)
      _ = try writeHead(content, found.version, [], place)
      return
    }
    guard FormerVersion.isNewer(found.version, there.version) else {
      guard let content = try content(head, in: group) else { return }
      let former = (there.former + [found.version]).sorted(by: FormerVersion.isNewer)
      _ = try writeHead(content, there.version, former, place)
      return
    }
    guard let newest = try content(row, in: group), try demote(there, head, to: place) else { return }
    try edit(row, nil)
    _ = try writeHead(newest, found.version, ([there.version] + there.former).sorted(by: FormerVersion.isNewer), place)
  }

  /// Makes a head an ordinary former version.
  private mutating func demote(_ found: FormerItem, _ head: Identifier, to place: Place) throws -> Bool {
    guard let content = try content(head, in: place.group) else { return false }
    let row = place.group.historyID(found.version.origin, found.version.number)
    let attributes = content.item.encoded(HistoryMarks(found.version, former: nil))
    try edit(head, nil)
    try edit(row, try place.seal(row, .history, attributes, content.secret, generation, keys))
    return true
  }

  private mutating func reseal(
    _ owner: Identifier, in group: GroupKeys, isHead: Bool, adding: [FormerVersion], keeping isThere: (FormerVersion) -> Bool
  ) throws {
    guard let content = try content(owner, in: group) else { return }
    guard !isHead else {
      guard let head = try former(owner, in: group) else { return }
      let versions = (head.former.filter(isThere) + adding).sorted(by: FormerVersion.isNewer)
      _ = try writeHead(content, head.version, versions, place(head.meta.accessibility, in: group))
      return
    }
    let entry = try entry(Reference(group: group.group, id: owner))
    let all = Set(entry.former.filter(isThere) + adding).sorted(by: FormerVersion.isNewer)
    // The value of an earlier row that was accepted is a former version, too: one of the two stays.
    var marks = HistoryMarks(former: all.filter { $0.origin != owner || $0.number != entry.version }, number: entry.version)
    while marks.former.count > FormerVersion.maximumCount || content.item.encoded(marks).count > Padding.maximumCount {
      if marks.former.popLast() == nil { marks.number = nil }
    }
    for version in all where !marks.former.contains(version) { try edit(group.historyID(version.origin, version.number), nil) }
    let place = try place(entry.accessibility, in: group)
    try edit(owner, try place.seal(owner, .item, content.item.encoded(marks), content.secret, generation, keys))
  }
}
