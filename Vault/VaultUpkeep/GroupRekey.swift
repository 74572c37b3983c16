import SecretMemory
public import VaultCore

/// How far a re-key of a group has come.
public struct RekeyStatus: Equatable, Sendable {
  /// The group whose keys are replaced.
  public let group: AccessGroup
  /// Items and former versions under new keys.
  public internal(set) var done: UInt64
  /// Items and former versions that the re-key concerns.
  public internal(set) var total: UInt64

  package init(group: AccessGroup, done: UInt64, total: UInt64) { (self.group, self.done, self.total) = (group, done, total) }
}

extension Vault {
  /// The groups whose re-key was not finished, ordered by name. A walk over all items and versions, if there is one.
  /// - Throws: `locked`; integrity errors.
  public borrowing func unfinishedRekeys() throws -> [RekeyStatus] {
    let isUnfinished = try reading { state, _ in
      try state.keys.checkUnlocked()
      return try GroupDirectory(state).all.contains(where: \.isBeingReplaced)
    }
    return isUnfinished ? try groupContents().compactMap(\.rekey) : []
  }

  /// Gives a group new keys, and seals its items and their former versions under them, in commits of at most 500 rows or 16 MiB. If it
  /// is interrupted, each commit stands, and the next call goes on; the old keys go with the last commit.
  /// - Parameters:
  ///   - leavingOthers: Whether items of other devices, which do not open here, keep their keys.
  ///   - rowsPerWalk: How many identifiers a walk keeps in memory.
  ///   - step: Called after each commit with the rows done and the rows in all. If it throws, the rest waits for the next call.
  /// - Throws: `wrongDeviceKey`, `deviceKeyMissing` for items of other devices; `groupNotFound`, `vaultFull` (255 keys), `locked`;
  ///   integrity errors; the error of `step`.
  package mutating func rekey(
    _ group: AccessGroup, leavingOthers: Bool = false, rowsPerWalk: Int = 1 << 18,
    step: (UInt64, UInt64) throws -> Void = { _, _ in }
  ) throws {
    var marked = try transaction { try $0.addEpochs(group, leavingOthers: leavingOthers, rowsPerWalk) }
    let total = marked.count
    var done: UInt64 = 0
    while true {
      repeat {
        done += UInt64(try transaction { try $0.resealBatch(of: group, &marked) })
        try step(min(done, total), total)
      } while !marked.ids.isEmpty
      guard let more = try transaction({ try $0.dropOldEpochs(of: group, marked, rowsPerWalk) }) else { return }
      marked = more
    }
  }
}

/// The rows of a group under marked keys, as a walk has found them.
private struct MarkedRows {
  /// In ascending order; those that are not sealed anew yet.
  var ids: ArraySlice<Identifier> = []
  /// All that the walk has met, also if `ids` had no room for them.
  var count: UInt64 = 0
  /// The generation of the newest state of which it is proven that `ids` are all of them: that of the walk, and then that of each batch
  /// which follows it immediately. nil if `ids` are not all, or another program has written in between.
  var generation: UInt64?
}

extension Transaction {
  /// Rows and bytes of one of several commits that change many rows.
  package static let batchRowCount = 500
  package static let batchByteCount = 16 << 20

  /// Marks the keys of a group as replaced, and adds new ones. If some are marked already, a re-key was interrupted and goes on.
  fileprivate mutating func addEpochs(_ name: AccessGroup, leavingOthers: Bool, _ room: Int) throws -> MarkedRows {
    try keys.checkUnlocked()
    var group = try group(name)
    if !group.isBeingReplaced {
      group = try group.replacingKeys(keys: keys, version: generation)
      try put(group)
    }
    return try markedRows(of: group, room) { meta in
      // A key that does not open here has no mark.
      if !leavingOthers { _ = try group.key(meta.accessibility, epoch: meta.epoch, keys: keys) }
    }
  }

  /// - Parameter other: Called for each row of the group under a key without a mark.
  private func markedRows(
    of group: GroupKeys, _ room: Int, other: (RecordMeta) throws -> Void = { _ in }
  ) throws -> MarkedRows {
    var rows = MarkedRows()
    try state.forEachListed(0x01...0xFF) { id, leaf, row in
      do {
        let record = try row.get()
        try state.prove(record, id: id, leaf: leaf)
        let meta = try RecordMeta(parsing: record, header: state.header)
        guard record.group == group.groupID else { return }
        guard group.isReplaced(meta.accessibility, epoch: meta.epoch) else { return try other(meta) }
        rows.count += 1
        if rows.ids.count < room { rows.ids.append(id) }
      } catch let error as VaultError {
        throw error.naming(id)
      }
    }
    if rows.count == rows.ids.count { rows.generation = resultingGeneration }
    return rows
  }

  /// The generation of the vault after this transaction.
  private var resultingGeneration: UInt64 { change.isEmpty ? state.header.generation : generation }

  /// Seals the next rows anew.
  /// - Returns: How many.
  fileprivate mutating func resealBatch(of name: AccessGroup, _ rows: inout MarkedRows) throws -> Int {
    let group = try group(name)
    let isNext = rows.generation == state.header.generation
    var (count, byteCount) = (0, 0)
    var places: [Accessibility: Place] = [:]
    while count < Self.batchRowCount, byteCount < Self.batchByteCount, let id = rows.ids.popFirst() {
      guard let leaf = try tree.leaf(id) else { continue }
      let record = try state.record(id, expecting: leaf)
      let meta = try RecordMeta(parsing: record, header: state.header)
      // Another program may have written it under the new key since.
      guard record.group == group.groupID, group.isReplaced(meta.accessibility, epoch: meta.epoch) else { continue }
      let place = try places[meta.accessibility] ?? place(meta.accessibility, in: group)
      places[meta.accessibility] = place
      try reseal(record, meta, at: place)
      (count, byteCount) = (count + 1, byteCount + record.attributes.count + record.secretCount)
    }
    rows.generation = isNext ? resultingGeneration : nil
    return count
  }

  /// The same attributes and secret under the newest key of the class; the version of an item's value stays.
  private mutating func reseal(_ record: RecordHead, _ meta: RecordMeta, at place: Place) throws {
    var item = try state.decodedItem(record, meta: meta, group: place.group)
    var marks = try HistoryMarks(takenFrom: &item, isItem: meta.kind == .item)
    let number = marks.number
    marks.number = number ?? meta.version
    var attributes = item.encoded(marks)
    if attributes.count > Padding.maximumCount {
      // No room for the number: the value counts as one of this write.
      marks.number = number
      attributes = item.encoded(marks)
    }
    let secret = try state.openSecret(record, meta: meta, group: place.group)
    try edit(record.id, place.seal(record.id, meta.kind, attributes, secret, generation, keys))
  }

  /// The marked keys go, once it is proven that no row is under them: by the walk, if each commit after it was one of this re-key, and else by
  /// a walk now.
  /// - Returns: The rows that this walk has met; nil if the keys are gone.
  fileprivate mutating func dropOldEpochs(of name: AccessGroup, _ rows: MarkedRows, _ room: Int) throws -> MarkedRows? {
    let group = try group(name)
    if rows.generation != state.header.generation {
      let left = try markedRows(of: group, room)
      guard left.count == 0 else { return left }
    }
    try put(group.droppingReplacedKeys(version: generation))
    return nil
  }
}
