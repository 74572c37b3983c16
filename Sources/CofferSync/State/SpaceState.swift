import VaultCore

/// The result of the folded entries: all items and settings of a space. Section 5.3 of docs/sync-format.md.
package struct SpaceState: Equatable, Sendable {
  /// Ages above this one are not told apart.
  static let maximumAge: UInt64 = 2

  package enum Outcome: Sendable { case folded, known, refused }

  package internal(set) var entities: [EntityKey: Entity] = [:]
  /// The number of checkpoints.
  private(set) var generation: UInt64
  private(set) var quota = SettingsQuota()

  /// - Parameter generation: any number of at least `maximumAge`; only differences count.
  init(generation: UInt64 = maximumAge) { self.generation = generation }

  package subscript(key: EntityKey) -> Entity? { entities[key] }

  package func knows(_ operation: Operation) -> Bool { entities[operation.key]?.knows(operation.dot) ?? false }

  mutating func fold(_ operation: Operation, store: String?) -> Outcome {
    guard !knows(operation) else { return .known }
    // Taken out, so that it is changed in place.
    var entity = entities.removeValue(forKey: operation.key) ?? Entity()
    defer { entities[operation.key] = entity }
    guard operation.kind == .setting else {
      entity.apply(operation, generation: generation)
      return .folded
    }
    if let store { quota.name(operation.tag, store) }
    var after = entity
    after.apply(operation, generation: generation)
    guard quota.accepts(operation.tag, from: entity, to: after) else {
      entity.refuse(operation, generation: generation)
      return .refused
    }
    entity = after
    return .folded
  }

  /// For the rows of a checkpoint.
  mutating func insert(_ entity: Entity, _ key: EntityKey, store: String?) {
    if let store {
      quota.name(key.tag, store)
      _ = quota.accepts(key.tag, from: nil, to: entity)
    }
    entities[key] = entity
  }

  /// Ends a generation. Section 7 of docs/sync-format.md.
  mutating func age() {
    generation += 1
    for key in entities.keys where entities[key]?.age(before: generation - Self.maximumAge + 1) == false {
      entities[key] = nil
    }
  }
}

/// The limits of each store of settings. Section 5.4 of docs/sync-format.md.
struct SettingsQuota: Equatable, Sendable {
  static let maximumKeyCount = 1024
  static let maximumByteCount = 1 << 20

  struct Usage: Equatable, Sendable {
    var keys = 0
    var bytes = 0
  }

  /// The stores of settings, by their tags.
  private(set) var stores: [Identifier: String] = [:]
  /// By the bytes of their names: texts that Unicode takes for equal are other stores.
  private var usage: [[UInt8]: Usage] = [:]

  func used(by store: String) -> Usage { usage[Array(store.utf8)] ?? Usage() }

  /// Notes the store of a setting, which its content names.
  mutating func name(_ tag: Identifier, _ store: String) { stores[tag] = store }

  /// A shown value, without the name of its setting.
  private static func usage(of entity: Entity?) -> Usage {
    guard let value = entity?.setting?.value else { return Usage() }
    return Usage(keys: 1, bytes: value.settingByteCount)
  }

  /// Counts a change, unless a store would have more than before and more than it may have.
  mutating func accepts(_ tag: Identifier, from before: Entity?, to after: Entity) -> Bool {
    guard let store = stores[tag] else { return true }
    let (old, new, total) = (Self.usage(of: before), Self.usage(of: after), used(by: store))
    let next = Usage(keys: total.keys - old.keys + new.keys, bytes: total.bytes - old.bytes + new.bytes)
    guard next.keys <= Self.maximumKeyCount || next.keys <= total.keys,
      next.bytes <= Self.maximumByteCount || next.bytes <= total.bytes
    else { return false }
    usage[Array(store.utf8)] = next
    return true
  }
}
