public import SecretMemory

/// The result of `Vault.verify`.
public struct Verification: Sendable {
  /// The most faults that are kept: a writer of the file can make as many as it has room for.
  public static let maximumProblemCount = 1000

  /// The first faults, in the order in which they were met. Empty for a sound vault.
  public private(set) var problems: [VaultError] = []
  /// All faults, also those that are not kept.
  public private(set) var problemCount: UInt64 = 0
  /// Records that were proven.
  public internal(set) var recordCount: UInt64 = 0
  /// Items that are proven but could not be opened here: sealed on another device, or no device key was given.
  public internal(set) var unavailableCount: UInt64 = 0

  /// Whether no problem was found.
  public var isSound: Bool { problemCount == 0 }

  fileprivate mutating func note(_ problem: VaultError) {
    problemCount += 1
    if problems.count < Self.maximumProblemCount { problems.append(problem) }
  }
}

extension Vault {
  /// Proves and opens everything in the vault, and looks for what nothing lists. Goes on after a fault, so that one damaged
  /// record does not hide the others. About 10 us for each record; memory is bounded.
  /// - Parameter progress: called now and then with the records done and the records in all. An error that it throws ends the walk.
  /// - Throws: only what makes it pointless to go on: `locked`, the header cannot be proven, or the store fails; the error of `progress`.
  public borrowing func verify(progress: ((_ done: UInt64, _ total: UInt64) throws -> Void)? = nil) throws -> Verification {
    try reading { state, _ in
      try state.keys.checkUnlocked()
      return try VerificationWalk(state, progress: progress).run()
    }
  }
}

/// The walk behind `Vault.verify`.
package final class VerificationWalk {
  private let state: ProvenState
  private let progress: ((UInt64, UInt64) throws -> Void)?
  private var verification = Verification()
  /// The prefixes of nodes that the tree lists, and of those of them that do not prove.
  private var listedNodes: Set<[UInt8]> = []
  private var brokenNodes: [[UInt8]] = []
  /// Met before any item: their ids begin with a zero byte.
  private var groups: [Identifier: GroupKeys] = [:]
  private var leafCount: UInt64 = 0
  /// Former versions that an item has named and the walk has not met, and the reverse.
  private var namedFormer: Set<Identifier> = []
  private var metFormer: [Identifier: Accessibility] = [:]

  package init(_ state: ProvenState, progress: ((UInt64, UInt64) throws -> Void)? = nil) {
    self.state = state
    self.progress = progress
  }

  package func run() throws -> Verification {
    try collect {
      _ = try SlotRows(proving: state.rows, header: state.header, keys: state.keys.integrity).parsed()
    }
    try state.forEachListed(0x00...0xFF, visit: visit, unlisted: noteUnlisted) { id, leaf, row in
      leafCount += 1
      try collect(of: id) { try check(row.get(), leaf: leaf) }
    }
    // Below a node that does not prove, nothing is listed: one fault, not thousands.
    guard brokenNodes.isEmpty else { return verification }
    if leafCount != state.header.recordCount {
      verification.note(VaultError(.countMismatch, "\(leafCount) records, \(state.header.recordCount) in the header"))
    }
    try collect {
      try state.rows.forEachNode { prefix in
        if !listedNodes.contains(prefix) { verification.note(VaultError(.nodeUnlisted, "at depth \(prefix.count)")) }
      }
    }
    try checkHistory()
    return verification
  }

  private func name(_ former: [FormerVersion], in group: GroupKeys) {
    for version in former {
      let id = group.historyID(version.origin, version.number)
      if metFormer.removeValue(forKey: id) == nil { namedFormer.insert(id) }
    }
  }

  /// A former version has exactly one owner, but the owner may be damaged, or sealed for another device.
  private func checkHistory() throws {
    let isWhole = verification.isSound
    for id in namedFormer.sorted() {
      try collect { if try state.tree.leaf(id) == nil { throw VaultError(.historyMissing, "\(id)") } }
    }
    guard isWhole else { return }
    for (id, accessibility) in metFormer.sorted(by: { $0.key < $1.key })
    where !accessibility.isThisDeviceOnly || verification.unavailableCount == 0 {
      verification.note(VaultError(.historyUnlisted, "\(id)"))
    }
  }

  private func checkFormer(_ record: RecordHead, _ group: GroupKeys) throws {
    let former = try state.openFormer(record, in: group)
    if former.isRemoved {
      name(former.former, in: group)
    } else if namedFormer.remove(record.id) == nil {
      metFormer[record.id] = former.meta.accessibility
    }
  }

  /// Notes a fault of the vault, and throws on what is none.
  private func collect(of record: Identifier? = nil, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as VaultError where error.code != .outOfMemory && error.code != .memoryNotLockable {
      verification.note(record.map(error.naming) ?? error)
    }
  }

  private func visit(_ prefix: [UInt8], _ error: VaultError?) {
    listedNodes.insert(prefix)
    guard let error else { return }
    brokenNodes.append(prefix)
    verification.note(error)
  }

  private func noteUnlisted(_ id: Identifier?, _ row: Result<RecordHead, VaultError>) throws {
    guard let id else { return try collect { _ = try row.get() } }
    guard !brokenNodes.contains(where: { id.prefix($0.count) == $0 }) else { return }
    verification.note(VaultError(.recordUnlisted, "\(id)"))
  }

  private func check(_ record: RecordHead, leaf: Digest) throws {
    verification.recordCount += 1
    if verification.recordCount % 1024 == 0 { try progress?(verification.recordCount, state.header.recordCount) }
    try state.prove(record, id: record.id, leaf: leaf)
    let secret = try state.secret(of: record)
    let meta = try RecordMeta(parsing: record, header: state.header)
    switch meta.kind {
    case .group:
      let group = try state.keys.openGroup(record, secret: secret, meta: meta)
      guard groups[group.groupID] == nil else { throw VaultError(.groupMalformed, "two groups with one identifier") }
      groups[group.groupID] = group
    case .item, .history:
      guard let group = groups[record.group] else {
        if !brokenNodes.isEmpty { return }  // Its group's record may hang below.
        throw VaultError(.unknownGroup)
      }
      do {
        let entry = meta.kind == .item ? try state.openItem(record, meta: meta, group: group) : nil
        _ = try state.openSecret(secret, of: record, meta: meta, group: group)
        guard let entry else { return try checkFormer(record, group) }
        name(entry.former, in: group)
        let item = entry.item
        // The limits of writers: such an item opens, but no writer writes it again.
        _ = try item.checked(keeping: item.attributes)
      } catch let error as VaultError where error.code == .deviceKeyMissing || error.code == .wrongDeviceKey {
        verification.unavailableCount += 1
      }
    case .accessRule:
      _ = try state.openAccessRule(record, secret: secret)
    case .policy:
      _ = try state.openLimits(record, secret: secret)
    case .alias:
      break  // A record of a later version: proven by the tree, and not opened.
    }
  }
}
