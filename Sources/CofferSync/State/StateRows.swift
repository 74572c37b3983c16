import SecretMemory
import VaultCore

/// The rows of a checkpoint. Section 7 of docs/sync-format.md.
struct StateRow {
  /// The place of a row among the others.
  struct Order: Comparable {
    let key: EntityKey
    let register: UInt8
    let dot: Identifier
    let replacedIn: UInt8

    static func < (left: Order, right: Order) -> Bool {
      if left.key != right.key { return left.key < right.key }
      return (left.register, left.dot, left.replacedIn) < (right.register, right.dot, right.replacedIn)
    }
  }

  private enum Content {
    case live(Write)
    case gone(Entity.Gone, Entity.Mark)
  }

  let order: Order
  private let content: Content

  private init(_ key: EntityKey, _ register: Register, _ write: Write) {
    order = Order(key: key, register: register.rawValue, dot: write.dot, replacedIn: 0)
    content = .live(write)
  }

  private init(_ key: EntityKey, _ gone: Entity.Gone, _ mark: Entity.Mark) {
    order = Order(key: key, register: 0, dot: gone.dot, replacedIn: gone.register?.rawValue ?? 0)
    content = .gone(gone, mark)
  }

  /// In order.
  static func rows(of entity: Entity, _ key: EntityKey) -> [StateRow] {
    var rows = entity.gone.sorted { $0.key < $1.key }.map { StateRow(key, $0.key, $0.value) }
    for register in Register.allCases {
      let writes = entity[register]
      for write in writes.count < 2 ? writes : writes.sorted(by: { $0.dot < $1.dot }) {
        rows.append(StateRow(key, register, write))
      }
    }
    return rows
  }

  /// Its length in bytes.
  var byteCount: Int {
    switch content {
    case .live(let write): Self.headByteCount + 8 + write.value.byteCount
    case .gone: Self.headByteCount + 2
    }
  }

  /// Up to the age, with it.
  private static let headByteCount = 2 * Identifier.byteCount + 3

  func write(to writer: inout BodyWriter, in generation: UInt64, _ values: ValueKey) throws {
    writer.append(order.key.tag)
    writer.append(order.key.kind.rawValue)
    writer.append(order.register)
    writer.append(order.dot)
    func age(_ since: UInt64) -> UInt8 { UInt8(min(generation - since, SpaceState.maximumAge)) }
    switch content {
    case .live(let write):
      writer.append(age(write.generation))
      writer.append(write.modified)
      try write.value.write(to: &writer, values)
    case .gone(_, let mark):
      writer.append(age(mark.generation))
      writer.append(order.replacedIn)
      writer.append(UInt8(mark.isFolded ? 1 : 0))
    }
  }

  /// - Throws: `form`.
  init(reading reader: inout BodyReader, generation: UInt64, _ values: ValueKey) throws {
    let tag = try reader.readIdentifier()
    guard let kind = Kind(rawValue: try reader.readInteger()) else { throw VoidCause.form }
    let register = try reader.readByte(in: 0...3)
    let dot = try reader.readIdentifier()
    let since = generation - UInt64(try reader.readByte(in: 0...UInt8(SpaceState.maximumAge)))
    let key = EntityKey(kind, tag)
    if let register = Register(rawValue: register) {
      guard kind.has(register) else { throw VoidCause.form }
      let modified: Int64 = try reader.readInteger()
      let value = try Value(reading: &reader, of: register, kind, values)
      if register == .life { guard value == Operation.alive || value == Operation.deleted else { throw VoidCause.form } }
      self.init(key, register, Write(dot: dot, modified: modified, value: value, generation: since))
    } else {
      let replacedIn = try reader.readByte(in: 0...3)
      let isFolded = try reader.readByte(in: 0...1) == 1
      let register = Register(rawValue: replacedIn)
      guard register.map({ kind.has($0) }) ?? (isFolded && kind == .setting) else { throw VoidCause.form }
      self.init(key, Entity.Gone(register: register, dot: dot), Entity.Mark(generation: since, isFolded: isFolded))
    }
  }

  func add(to entity: inout Entity) {
    switch content {
    case .live(let write): if let register = Register(rawValue: order.register) { entity.add(write, to: register) }
    case .gone(let gone, let mark): entity.add(gone, mark)
    }
  }
}

/// The digest of a state, row by row.
struct StateDigest: ~Copyable {
  private static let rowContext = Context("sync-row").bytes
  private var digest: ContentDigest

  init() throws {
    digest = try ContentDigest()
    digest.update(Context("sync-state").bytes)
  }

  mutating func add(_ write: (inout BodyWriter) throws -> Void) throws {
    var writer = BodyWriter()
    writer.append(Self.rowContext)
    try write(&writer)
    digest.update(try writer.hash().bytes)
  }

  consuming func finish() -> Digest { Digest(digest.finish()) ?? .zero }
}

extension SpaceState {
  func forEachRow(_ body: (StateRow) throws -> Void) rethrows {
    for key in entities.keys.sorted() {
      guard let entity = entities[key] else { continue }
      for row in StateRow.rows(of: entity, key) { try body(row) }
    }
  }

  func digest(_ values: ValueKey) throws -> Digest {
    var digest = try StateDigest()
    try forEachRow { row in try digest.add { try row.write(to: &$0, in: generation, values) } }
    return digest.finish()
  }
}
