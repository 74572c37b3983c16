import SecretMemory
package import VaultCore

/// The state of one device: the place where it is, the members, the state, and the changes that it has still to append.
///
/// A value: a copy is what one transaction of the vault writes, and to return to it is what a crash does. It has no clock, no files
/// and no sockets; the engine is passed to the calls that need it.
package struct Replica: Sendable {
  /// The entries that are kept to restore an engine, and to prove that it has the same ones.
  package static let keptCount = 4096
  /// A warning is due after so many void entries in a row.
  package static let voidRunWarning = 64

  package let identity: DeviceIdentity
  package let id: Identifier
  let values: ValueKey

  var position: Position
  var keys: [UInt32: LockedBytes] = [:]
  /// Keys of epochs that may be those of this history, for what was before this device was added.
  var hints: [UInt32: LockedBytes] = [:]
  package internal(set) var membership = Membership()
  package internal(set) var state = SpaceState()
  package internal(set) var pending: PendingOperations = []
  /// Changes of the members, and the mark of a history that was left, until they are read in the log.
  package internal(set) var drafts: [Draft] = []
  /// Devices that were removed in a history that was left. Nothing else is appended until an owner has removed them here.
  package internal(set) var awaitedRemovals: Set<Identifier> = []
  /// Large values and parts of checkpoints, until the entry that names them is read.
  var uploads: [ObjectName: [UInt8]] = [:]
  var kept: [KeptEntry] = []
  var checkpoints: [Checkpoint] = []
  /// The parts of the last checkpoint by the digest of their content.
  var partNames: [Digest.Bytes: ObjectName] = [:]
  /// The objects that entries named, with the numbers of these.
  var namedObjects: [(number: UInt64, name: ObjectName)] = []
  var linkedNumbers: Set<UInt64> = []

  /// Operations of this device that the quota of settings has refused.
  package internal(set) var refused: [Operation] = []
  /// The caller keeps their values.
  package mutating func forgetRefused() { refused = [] }

  /// Histories that others have left.
  package internal(set) var leftHistories: [(device: Identifier, left: LeftHistory)] = []
  /// The number of void entries since the last one that was not.
  package internal(set) var voidRun = 0
  /// The last entry of each member that has made one.
  package internal(set) var lastEntries: [Identifier: LastEntry] = [:]
  /// Entries of members behind a gap: the person has accepted a history without them.
  var strays: Set<ObjectName> = []
  /// The cause for which it has stopped until the history of the engine is accepted.
  package internal(set) var halt: Halt?
  package var wantsPresence = false
  /// Whether this device was removed by an entry that asks it to erase the items of the space.
  package internal(set) var isErased = false
  /// The entries that this device, since it was loaded, has put back into an engine that lacked them.
  package internal(set) var restoredCount = 0
  /// The items and settings whose writes have changed since `settle`; nil: all of them may have. Those of pending operations are not
  /// among them.
  package private(set) var touched: Set<EntityKey>?

  package var space: Identifier { position.space }
  /// The number of entries that were folded.
  package var count: UInt64 { position.number }
  /// C of the last entry.
  package var chain: Digest { position.chain }
  package var epoch: UInt32 { position.epoch }
  package var isMember: Bool { membership[id] != nil }

  /// The person is told of the engine's role, because another program writes to the space.
  package var warnsOfVoidEntries: Bool { voidRun >= Self.voidRunWarning }

  struct KeptEntry: Sendable {
    let number: UInt64
    let bytes: [UInt8]
    let isValid: Bool
  }

  struct Checkpoint: Sendable {
    let number: UInt64
    let objects: [ObjectName]
  }

  /// The caller has what is shown, but for these.
  package mutating func settle(except rest: Set<EntityKey>) { touched = rest }

  mutating func touch(_ operations: [Operation]) { for operation in operations { touched?.insert(operation.key) } }
  mutating func touchAll() { touched = nil }

  init(_ identity: DeviceIdentity, space: Identifier, _ values: ValueKey) {
    (self.identity, self.values) = (identity, values)
    id = identity.id
    position = Position(space: space, number: 0, chain: .zero, epoch: 0)
  }

  /// A new space, with this device as its owner. The first `synchronise` appends the first entry.
  /// - Parameter random: 32 random bytes.
  package init(founding identity: DeviceIdentity, random: [UInt8], _ values: ValueKey) throws {
    let record = identity.record(.owner)
    self.init(identity, space: record.space(random: random), values)
    hints[0] = LockedBytes(try .random(count: Key.byteCount))
    drafts = [.genesis(random: random, record)]
  }
}

extension Digest {
  /// A digest as a key of a dictionary: of something that is not an authenticator.
  typealias Bytes = [UInt8]
}

/// A change that is not an operation, made again for each entry until it is read.
package enum Draft: Sendable {
  case genesis(random: [UInt8], DeviceRecord)
  case add(DeviceRecord)
  case remove([Identifier], erase: Bool)
  case role(Identifier, Role)
  case rejoin(LeftHistory)

  /// The payload without what is only known when the entry is made.
  var payload: Payload {
    switch self {
    case .genesis(let random, let record): .genesis(random: random, record)
    case .add(let record): .add(record)
    case .remove(let ids, let erase): .remove(ids, erase: erase)
    case .role(let id, let role): .role(id, role)
    case .rejoin(let left): .rejoin(left)
    }
  }

  /// Returns nil for the payload of an entry that is not made from a draft.
  init?(_ payload: Payload) {
    switch payload {
    case .genesis(let random, let record): self = .genesis(random: random, record)
    case .add(let record): self = .add(record)
    case .remove(let ids, let erase): self = .remove(ids, erase: erase)
    case .role(let id, let role): self = .role(id, role)
    case .rejoin(let left): self = .rejoin(left)
    case .operations, .checkpoint, .presence: return nil
    }
  }
}
