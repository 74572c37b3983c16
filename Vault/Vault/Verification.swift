/// What `Vault.verify` found.
public struct Verification: Sendable {
  /// The most faults that are kept: whoever can write the file can make as many as it has room for.
  public static let maximumProblemCount = 1000

  /// The first faults, in the order in which they were met. Empty for a sound vault.
  public private(set) var problems: [VaultError] = []
  /// All faults, also those that are not kept.
  public private(set) var problemCount: UInt64 = 0
  /// Records that were proven.
  public internal(set) var recordCount: UInt64 = 0
  /// Items that are proven but could not be opened here: sealed on another device, or no device key was given.
  public internal(set) var unavailableCount: UInt64 = 0

  public var isSound: Bool { problemCount == 0 }

  fileprivate mutating func note(_ problem: VaultError) {
    problemCount += 1
    if problems.count < Self.maximumProblemCount { problems.append(problem) }
  }
}

extension Vault {
  /// Proves and opens everything in the vault, and looks for what nothing lists. Goes on after a fault, so that one damaged record
  /// does not hide the others. About 10 us for each record; memory is bounded.
  /// - Parameter progress: called now and then with the records done and the records in all.
  /// - Throws: only what makes it pointless to go on: `locked`, the header cannot be proven, or the store fails.
  public borrowing func verify(progress: ((_ done: UInt64, _ total: UInt64) -> Void)? = nil) throws -> Verification {
    try reading { state, _ in
      try state.keys.checkUnlocked()
      var walk = VerificationWalk(state: state, progress: progress)
      try walk.run()
      return walk.verification
    }
  }
}

/// The walk behind `Vault.verify`.
private struct VerificationWalk {
  let state: ProvenState
  let progress: ((UInt64, UInt64) -> Void)?
  var verification = Verification()
  /// Nodes that the tree lists.
  private var listedNodes: Set<[UInt8]> = []
  /// Met before any item: their ids begin with a zero byte.
  private var groups: [Identifier: GroupKeys] = [:]
  private var leafCount: UInt64 = 0
  private var hasBrokenNode = false

  init(state: ProvenState, progress: ((UInt64, UInt64) -> Void)?) {
    self.state = state
    self.progress = progress
  }

  mutating func run() throws {
    try collect {
      _ = try SlotRows(proving: $0.state.rows, header: $0.state.header, keys: $0.state.keys.integrity).parsed()
    }
    try collect { try $0.visit($0.state.tree.rootNode()) }
    if !hasBrokenNode && leafCount != state.header.recordCount {
      verification.note(VaultError(.countMismatch, "\(leafCount) records, \(state.header.recordCount) in the header"))
    }
    // Below a node that does not prove, nothing is listed: one fault, not thousands.
    guard !hasBrokenNode else { return }
    try state.rows.forEachNode { prefix in
      if !listedNodes.contains(prefix) { verification.note(VaultError(.nodeUnlisted, "at depth \(prefix.count)")) }
    }
  }

  /// Notes a fault of the vault, and throws on what is none.
  private mutating func collect(of record: Identifier? = nil, _ body: (inout Self) throws -> Void) throws {
    do {
      try body(&self)
    } catch let error as VaultError where error.code != .outOfMemory && error.code != .memoryNotLockable {
      if [.nodeForged, .nodeMalformed, .nodeMissing].contains(error.code) { hasBrokenNode = true }
      guard let record, !error.detail.hasPrefix("\(record)") else { return verification.note(error) }
      verification.note(VaultError(error.code, error.detail.isEmpty ? "\(record)" : "\(record): \(error.detail)"))
    }
  }

  private mutating func visit(_ node: Node) throws {
    listedNodes.insert(node.prefix)
    guard node.prefix.count < state.tree.depth else { return try visitRecords(of: node) }
    for byte in UInt8.min...UInt8.max {
      let prefix = node.prefix + [byte]
      if let digest = node.digest(of: [byte]) {
        listedNodes.insert(prefix)
        try collect { try $0.visit($0.state.tree.node(prefix, expecting: digest)) }
      } else {
        try noteUnlisted(under: prefix)
      }
    }
  }

  private mutating func noteUnlisted(under prefix: [UInt8]) throws {
    try state.rows.forEachRecord(under: prefix) { verification.note(VaultError(.recordUnlisted, "\($0.id)")) }
  }

  /// Rows and leaves side by side, both ascending.
  private mutating func visitRecords(of node: Node) throws {
    var next = 0
    try state.rows.forEachRecord(under: node.prefix) { record in
      while next < node.count, node.identifier(at: next) < record.id {
        verification.note(VaultError(.recordMissing, "\(node.identifier(at: next))"))
        next += 1
      }
      guard next < node.count, node.identifier(at: next) == record.id else {
        verification.note(VaultError(.recordUnlisted, "\(record.id)"))
        return
      }
      let leaf = node.digest(at: next)
      next += 1
      try collect(of: record.id) { try $0.check(record, leaf: leaf) }
    }
    while next < node.count {
      verification.note(VaultError(.recordMissing, "\(node.identifier(at: next))"))
      next += 1
    }
    leafCount += UInt64(node.count)
  }

  private mutating func check(_ record: RecordHead, leaf: Digest) throws {
    verification.recordCount += 1
    if verification.recordCount % 1024 == 0 { progress?(verification.recordCount, state.header.recordCount) }
    try state.prove(record, id: record.id, leaf: leaf)
    let secret = try state.secret(of: record)
    let meta = try RecordMeta(parsing: record, header: state.header)
    switch meta.kind {
    case .group:
      let group = try state.keys.openGroup(record, secret: secret, meta: meta)
      guard groups[group.groupID] == nil else { throw VaultError(.groupMalformed, "two groups with one identifier") }
      groups[group.groupID] = group
    case .item:
      guard let group = groups[record.group] else {
        if hasBrokenNode { return }  // Its group's record may hang below.
        throw VaultError(.unknownGroup)
      }
      do {
        let item = try state.openItem(record, meta: meta, group: group).item
        _ = try state.openSecret(secret, of: record, meta: meta, group: group)
        // The limits of writers: such an item opens, but no writer writes it again.
        _ = try item.checked(keeping: item.attributes)
      } catch let error as VaultError where error.code == .deviceKeyMissing || error.code == .wrongDeviceKey {
        verification.unavailableCount += 1
      }
    case .accessRule:
      _ = try state.openAccessRule(record, secret: secret)
    case .alias, .policy, .history:
      break  // Of a later version: proven by the tree, not ours to open.
    }
  }
}
