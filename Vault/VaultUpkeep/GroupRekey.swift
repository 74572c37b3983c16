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

  /// Gives groups, and those whose re-key is unfinished, new keys, and seals their items and former versions under them, in one pass over all
  /// rows. If it is interrupted, each commit stands, and the next call goes on; the old keys go with the last commit. A row whose key does
  /// not open here, one of another device, keeps that key.
  /// - Parameters:
  ///   - groups: Those that get new keys, if a re-key of them is not under way already.
  ///   - rowsPerCommit: A commit ends at the first byte of identifiers at which it has the lower bound of rows, and in any case at the upper one
  ///     or at 16 MiB; the rows of that byte are read again then.
  ///   - step: Called before the first commit that seals rows, and after each, with the rows that were passed and the rows in all. If it
  ///     throws, the rest waits for the next call.
  /// - Throws: `groupNotFound`, `vaultFull` (255 keys), `locked`; integrity errors; the error of `step`.
  package mutating func rekey(
    _ groups: [AccessGroup], rowsPerCommit: ClosedRange<UInt64> = 1000...4096, step: (UInt64, UInt64) throws -> Void = { _, _ in }
  ) throws {
    var pass = RekeyPass()
    try transaction { transaction in
      for group in groups { try transaction.beginRekey(of: group) }
      pass.total = transaction.state.header.recordCount
    }
    try step(0, pass.total)
    while !pass.isOver {
      try transaction { try $0.rekey(&pass, rowsPerCommit) }
      try step(min(pass.rowCount, pass.total), pass.total)
    }
  }
}

/// How far a re-key has come in a pass over all rows, by the first byte of their identifiers.
private struct RekeyPass {
  /// The first byte of the rows that come next; 0, that of system records, at the end of a pass.
  var byte: UInt8 = 1
  /// The rows before it.
  var rowCount: UInt64 = 0
  var total: UInt64 = 0
  /// The generation of the newest state of which it is proven that no row before `byte` is under a marked key: that of the last commit. nil if
  /// another program has written since the pass began.
  var generation: UInt64?
  var isOver = false
}

/// The rows that one commit seals anew.
private struct RekeyBatch {
  let groups: [Identifier: GroupKeys]
  let mostRows: UInt64
  var places: [Identifier: [Accessibility: Place]] = [:]
  var rowCount: UInt64 = 0
  var byteCount = 0

  var isFull: Bool { rowCount >= mostRows || byteCount >= Transaction.batchByteCount }
}

extension Transaction {
  /// Rows and bytes of one of several commits that change many rows.
  package static let batchRowCount = 500
  package static let batchByteCount = 16 << 20

  /// Marks the keys of a group as replaced, and adds new ones. If some are marked already, a re-key was interrupted and goes on.
  fileprivate mutating func beginRekey(of name: AccessGroup) throws {
    try keys.checkUnlocked()
    let group = try group(name)
    if !group.isBeingReplaced { try put(group.replacingKeys(keys: keys, version: generation)) }
  }

  /// One commit of a pass. Marked keys go at its end, if no row can be under them: all rows were read in this transaction, or each commit since
  /// the pass began was one of this re-key. If another program has written meanwhile, another pass follows, in which little is left.
  fileprivate mutating func rekey(_ pass: inout RekeyPass, _ rowsPerCommit: ClosedRange<UInt64>) throws {
    let isProven = pass.byte == 1 || pass.generation == state.header.generation
    // By their marks: another program may rename or remove one meanwhile.
    let groups = try GroupDirectory(state).all.filter(\.isBeingReplaced)
    var batch = RekeyBatch(
      groups: Dictionary(groups.map { ($0.groupID, $0) }) { $1 }, mostRows: rowsPerCommit.upperBound)
    pass.total = state.header.recordCount
    repeat {
      let count = try reseal(under: pass.byte, &batch)
      guard !batch.isFull else { break }
      (pass.byte, pass.rowCount) = (pass.byte &+ 1, pass.rowCount + count)
    } while pass.byte != 0 && batch.rowCount < rowsPerCommit.lowerBound
    if pass.byte == 0 {
      pass = RekeyPass(total: pass.total, isOver: isProven)
      if isProven {
        for group in groups { try put(group.droppingReplacedKeys(version: generation)) }
        pass.rowCount = pass.total
      }
    }
    pass.generation = isProven ? change.isEmpty ? state.header.generation : generation : nil
  }

  /// - Returns: The rows under this byte.
  private mutating func reseal(under byte: UInt8, _ batch: inout RekeyBatch) throws -> UInt64 {
    let state = state
    var count: UInt64 = 0
    try state.forEachListed(byte...byte) { id, leaf, row in
      count += 1
      guard !batch.isFull else { return }
      do {
        let record = try row.get()
        try state.prove(record, id: id, leaf: leaf)
        guard let group = batch.groups[record.group] else { return }
        let meta = try RecordMeta(parsing: record, header: state.header)
        guard group.isReplaced(meta.accessibility, epoch: meta.epoch) else { return }
        let place = try batch.places[group.groupID]?[meta.accessibility] ?? place(meta.accessibility, in: group)
        batch.places[group.groupID, default: [:]][meta.accessibility] = place
        try reseal(record, meta, at: place)
        batch.rowCount += 1
        batch.byteCount += record.attributes.count + record.secretCount
      } catch let error as VaultError {
        throw error.naming(id)
      }
    }
    return count
  }

  /// The same attributes and secret under the newest key of the class; the version of an item's value stays.
  private mutating func reseal(_ record: RecordHead, _ meta: RecordMeta, at place: Place) throws {
    let key = try place.group.key(meta.accessibility, epoch: meta.epoch, keys: keys)
    let seal = RecordSeal(vault: keys.vault, id: record.id, group: record.group, meta: meta)
    var attributes = try seal.open(.attributes, record.attributes, with: key).copyIntoUnprotectedBytes()
    var decoded = try TLV.decode(attributes)
    if decoded[HistoryMarks.numberName] == nil {
      decoded[HistoryMarks.numberName] = .integer(meta.version)
      let numbered = TLV.encode(decoded)
      // Without room for the number, the value counts as one of this write.
      if numbered.count <= Padding.maximumCount { attributes = numbered }
    }
    let secret = try seal.open(.secret, state.secret(of: record), with: key)
    try edit(record.id, place.seal(record.id, meta.kind, attributes, secret, generation, keys))
  }
}
