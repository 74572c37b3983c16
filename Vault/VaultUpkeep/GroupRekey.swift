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
  ///   - step: Called after each commit with the rows done and the rows in all. If it throws, the rest waits for the next call.
  /// - Throws: `wrongDeviceKey`, `deviceKeyMissing` for items of other devices; `groupNotFound`, `vaultFull` (255 keys), `locked`;
  ///   integrity errors; the error of `step`.
  package mutating func rekey(
    _ group: AccessGroup, leavingOthers: Bool = false, step: (UInt64, UInt64) throws -> Void = { _, _ in }
  ) throws {
    let total = try transaction { try $0.addEpochs(group, leavingOthers: leavingOthers) }
    var (done, first) = (UInt64(0), UInt8(1))
    while true {
      let batch = try transaction { try $0.resealBatch(of: group, from: first) }
      done += UInt64(batch.count)
      try step(min(done, total), total)
      guard let next = batch.next else { break }
      first = next
    }
    try transaction { try $0.dropOldEpochs(of: group) }
  }
}

extension Transaction {
  /// Rows and bytes of one of several commits that change many rows.
  package static let batchRowCount = 500
  package static let batchByteCount = 16 << 20

  /// Marks the keys of a group as replaced, and adds new ones. If some are marked already, a re-key was interrupted and goes on.
  /// - Returns: How many rows are under marked keys.
  fileprivate mutating func addEpochs(_ name: AccessGroup, leavingOthers: Bool) throws -> UInt64 {
    try keys.checkUnlocked()
    var group = try group(name)
    if !group.isBeingReplaced {
      group = try group.replacingKeys(keys: keys, version: generation)
      try put(group)
    }
    var count: UInt64 = 0
    try state.forEachSealed(0x01...0xFF) { record, meta in
      guard record.group == group.groupID else { return true }
      guard group.isReplaced(meta.accessibility, epoch: meta.epoch) else {
        // A key that does not open here has no mark.
        if !leavingOthers { _ = try group.key(meta.accessibility, epoch: meta.epoch, keys: keys) }
        return true
      }
      count += 1
      return true
    }
    return count
  }

  /// The next rows under marked keys, in the order of their identifiers.
  /// - Returns: How many, and the first byte of an identifier from which to go on; nil at the end.
  fileprivate mutating func resealBatch(of name: AccessGroup, from first: UInt8) throws -> (count: Int, next: UInt8?) {
    let group = try group(name)
    var (byteCount, ids) = (0, [Identifier]())
    for byte in first...0xFF {
      var isFull = false
      try state.forEachSealed(byte...byte) { record, meta in
        guard record.group == group.groupID, group.isReplaced(meta.accessibility, epoch: meta.epoch) else { return true }
        isFull = ids.count == Self.batchRowCount || byteCount > Self.batchByteCount
        guard !isFull else { return false }
        ids.append(record.id)
        byteCount += record.attributes.count + record.secretCount
        return true
      }
      if isFull || ids.count == Self.batchRowCount || byteCount > Self.batchByteCount {
        for id in ids { try reseal(id, in: group) }
        return (ids.count, byte)
      }
    }
    for id in ids { try reseal(id, in: group) }
    return (ids.count, nil)
  }

  /// The same attributes and secret under the newest key of the class; the version of an item's value stays.
  private mutating func reseal(_ id: Identifier, in group: GroupKeys) throws {
    guard let record = try state.record(id) else { return }
    let meta = try RecordMeta(parsing: record, header: state.header)
    var item = try state.decodedItem(record, meta: meta, group: group)
    var marks = try HistoryMarks(takenFrom: &item, isItem: meta.kind == .item)
    let number = marks.number
    marks.number = number ?? meta.version
    // No room for the number: the value counts as one of this write.
    if item.encoded(marks).count > Padding.maximumCount { marks.number = number }
    let secret = try state.openSecret(record, meta: meta, group: group)
    try edit(id, place(meta.accessibility, in: group).seal(id, meta.kind, item.encoded(marks), secret, generation, keys))
  }

  /// The marked keys go, once a walk has proven that no row is under them.
  fileprivate mutating func dropOldEpochs(of name: AccessGroup) throws {
    let group = try group(name)
    try state.forEachSealed(0x01...0xFF) { record, meta in
      guard record.group != group.groupID || !group.isReplaced(meta.accessibility, epoch: meta.epoch) else {
        throw VaultError(.unknownGroup, "a record under a key that is replaced")
      }
      return true
    }
    try put(group.droppingReplacedKeys(version: generation))
  }
}

extension ProvenState {
  private struct End: Error {}

  /// Each item and former version in this range of first bytes, proven; until `body` returns false.
  fileprivate func forEachSealed(
    _ firstBytes: ClosedRange<UInt8>, _ body: (RecordHead, RecordMeta) throws -> Bool
  ) throws {
    do {
      try forEachListed(firstBytes) { id, leaf, row in
        do {
          let record = try row.get()
          try prove(record, id: id, leaf: leaf)
          guard try body(record, RecordMeta(parsing: record, header: header)) else { throw End() }
        } catch let error as VaultError {
          throw error.naming(id)
        }
      }
    } catch is End {}
  }
}
