import SecretMemory
import VaultCore

/// Objects of the engine: large values, and the state of checkpoints. Section 5 of docs/sync-format.md.
package struct ObjectSealer {
  /// In bytes, of an object: the epoch, and a box of the longest field with its padding.
  package static let maximumByteCount = epochByteCount + 40 + Padding.maximumCount + 4096

  let space: Identifier
  let keys: [UInt32: LockedBytes]
  private static let epochByteCount = 4

  private func key(_ epoch: UInt32) throws -> Key? {
    var context = Context("sync-object")
    context.append(space)
    return try keys[epoch]?.key()?.derive(context)
  }

  func seal(_ content: borrowing Secret, epoch: UInt32) throws -> [UInt8] {
    guard let key = try key(epoch) else { throw Halt.keyMissing }
    return epoch.littleEndianBytes + (try SecretBox.seal(content, key: key))
  }

  /// - Returns: nil for an object that does not open.
  func open(_ object: [UInt8]) throws -> LockedBytes? {
    guard object.count > Self.epochByteCount, let key = try key(UInt32(littleEndian: object, at: 0)) else { return nil }
    return try LockedBytes.open(Array(object.dropFirst(Self.epochByteCount)), under: key)
  }
}

/// A state is cut into objects, one after the other: locked memory need not hold all of it. Section 7 of docs/sync-format.md.
enum StateParts {
  /// In bytes of rows.
  static let maximumByteCount = 400 << 10
  /// About the size of a part, before which it is not cut.
  private static let aim = 128 << 10

  /// Cuts by the first bits of tags, which are random, so that a change leaves the other parts as they are.
  /// - Parameter take: Called with the content of each part and its hash, in order.
  /// - Returns: The digest of the state.
  static func cut(_ state: SpaceState, _ values: ValueKey, _ take: (LockedBytes, Digest) throws -> Void) throws -> Digest {
    var total = 0
    state.forEachRow { total += $0.byteCount }
    var bits = 0
    while total >> bits > aim { bits += 1 }
    var writer = BodyWriter()
    var prefix: UInt32?
    func end() throws {
      guard writer.count > 0 else { return }
      let content = try writer.finish()
      try take(content, LockedBytes.hash(content.secret))
    }
    var digest = try StateDigest()
    try state.forEachRow { row in
      try digest.add { try row.write(to: &$0, in: state.generation, values) }
      let first = (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(row.order.key.tag.byte(at: $1)) }
      let next = bits == 0 ? 0 : first >> UInt32(32 - min(bits, 32))
      if next != prefix || writer.count + row.byteCount > maximumByteCount { try end() }
      prefix = next
      try row.write(to: &writer, in: state.generation, values)
    }
    try end()
    return digest.finish()
  }
}

extension SpaceState {
  /// A state from its objects.
  /// - Parameters:
  ///   - open: Returns the content of an object.
  ///   - store: The store that the content of a setting names.
  /// - Throws: `form`, for rows that are malformed or out of order; what the closures throw.
  init<Object>(
    _ objects: [Object], digest expected: Digest, _ values: ValueKey, open: (Object) throws -> LockedBytes,
    store: (EntityKey, Entity) throws -> String?
  ) throws {
    var digest = try StateDigest()
    var builder = StateBuilder()
    for object in objects {
      let part = try open(object)
      guard part.count > 0 else { throw VoidCause.form }
      var reader = BodyReader(part)
      while reader.remaining > 0 {
        let start = reader.position
        try builder.add(try StateRow(reading: &reader, generation: builder.state.generation, values), store)
        try digest.add { reader.write(from: start, to: &$0) }
      }
    }
    self = try builder.finish(store)
    guard digest.finish() == expected else { throw VoidCause.form }
  }
}

/// Makes a state of its rows.
struct StateBuilder {
  private(set) var state = SpaceState()
  private var last: StateRow.Order?
  private var open: (key: EntityKey, entity: Entity)?

  /// - Parameter store: The store that the content of a setting names.
  /// - Throws: `form`, for a row that is out of order.
  mutating func add(_ row: StateRow, _ store: (EntityKey, Entity) throws -> String?) throws {
    guard last.map({ $0 < row.order }) ?? true else { throw VoidCause.form }
    last = row.order
    if open?.key != row.order.key {
      try close(store)
      open = (row.order.key, Entity())
    }
    if var entity = open?.entity {
      row.add(to: &entity)
      open?.entity = entity
    }
  }

  private mutating func close(_ store: (EntityKey, Entity) throws -> String?) throws {
    guard let open else { return }
    guard open.entity.isWithinLimits else { throw VoidCause.form }
    state.insert(open.entity, open.key, store: try store(open.key, open.entity))
  }

  mutating func finish(_ store: (EntityKey, Entity) throws -> String?) throws -> SpaceState {
    try close(store)
    return state
  }
}
