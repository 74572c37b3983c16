import SecretMemory
package import VaultCore

/// Changes of this device. Section 6 of docs/sync-format.md.
extension Replica {
  /// An entity as this device shows it: the fold, with the pending operations on top.
  package func shown(_ key: EntityKey) -> Entity? {
    let own = pending[key]
    guard !own.isEmpty else { return state[key] }
    var entity = state[key] ?? Entity()
    for pending in own where !entity.knows(pending.operation.dot) {
      entity.apply(pending.operation, generation: state.generation)
    }
    return entity
  }

  /// Fixes a change as an operation: it replaces what its author saw, and nothing that this device learns later.
  @discardableResult
  private mutating func change(
    _ key: EntityKey, _ written: [(Register, Value)], _ seen: SeenWrites, at modified: Int64, isHeld: Bool = false
  ) throws -> Identifier {
    let parts = written.map { register, value in
      Operation.Part(register: register, replaced: seen[register], value: value)
    }
    let operation = try Operation(key.kind, author: id, tag: key.tag, modified: modified, parts: parts, values)
    pending.append(PendingOperation(operation: operation, isHeld: isHeld))
    return operation.dot
  }

  private mutating func value(_ register: Register, _ bytes: borrowing Secret) throws -> Value {
    guard bytes.count > Value.maximumInlineCount else {
      return register == .secret ? .secret(try values.seal(bytes)) : .clear(bytes.copyIntoUnprotectedBytes())
    }
    return try object(bytes)
  }

  private mutating func object(_ bytes: borrowing Secret, of setting: SettingName? = nil) throws -> Value {
    let object = try sealer.seal(bytes, epoch: position.epoch)
    let name = ObjectName(of: object)
    uploads[name] = object
    return .object(name, count: bytes.count, of: setting)
  }

  /// Writes an item: the parts that a person has changed.
  /// - Parameters:
  ///   - content: nil if it has not changed.
  ///   - secret: nil if it has not changed.
  ///   - modified: In milliseconds since 1970.
  ///   - seen: The writes that the person saw; nil: those that this device shows.
  /// - Throws: `form`, if the item is not there and a part is missing, or if it is not one that is shared.
  package mutating func write(
    _ tag: Identifier, content: ItemContent?, secret: LockedBytes?, at modified: Int64, seen: SeenWrites? = nil
  ) throws {
    let key = EntityKey(.item, tag)
    let isThere = shown(key)?.exists ?? false
    guard isThere || content != nil, content.map({ $0.tag == tag }) ?? true else { throw VoidCause.form }
    var written: [(Register, Value)] = []
    if let content { written.append((.content, try value(.content, Secret(copying: content.bytes)))) }
    guard isThere || secret != nil else { throw VoidCause.form }
    if let secret { written.append((.secret, try value(.secret, secret.secret))) }
    try change(key, written + [(.life, Operation.alive)], seen ?? SeenWrites(shown(key)), at: modified)
  }

  /// Writes a setting.
  /// - Parameters:
  ///   - setting: The name and the value.
  ///   - modified: In milliseconds since 1970.
  ///   - seen: The writes that the person saw; nil: those that this device shows.
  /// - Returns: The dot of the operation.
  @discardableResult
  package mutating func write(_ setting: SettingContent, at modified: Int64, seen: SeenWrites? = nil) throws -> Identifier {
    let isLarge = setting.bytes.count > Value.maximumInlineCount
    let value: Value =
      isLarge ? try object(Secret(copying: setting.value), of: setting.name) : .clear(setting.bytes)
    let key = EntityKey(.setting, setting.name.tag)
    return try change(key, [(.content, value), (.life, Operation.alive)], seen ?? SeenWrites(shown(key)), at: modified)
  }

  /// The content of a setting in this space.
  /// - Parameters:
  ///   - value: The value of register 1.
  ///   - objects: The large values of the engine.
  /// - Throws: `objectMissing`; `tag` for an object that does not open or has another length.
  package func setting(of value: Value, _ objects: ObjectSource) throws -> SettingContent {
    guard case .object(_, _, let name?) = value else {
      return try SettingContent(parsing: content(of: value, objects).secret.copyIntoUnprotectedBytes())
    }
    return try SettingContent(name, value: content(of: value, objects).secret.copyIntoUnprotectedBytes())
  }

  /// Deletes items or settings of one group, or one store.
  /// - Parameters:
  ///   - keys: Those that exist no longer.
  ///   - groupCount: The number of those in the group before.
  ///   - modified: In milliseconds since 1970.
  ///   - isHeld: Whether they wait for a person, however few they are.
  ///   - seen: The writes of each that the person saw; nil: those that this device shows.
  /// - Returns: False if the deletions wait until a person confirms them.
  @discardableResult
  package mutating func delete(
    _ keys: [EntityKey], ofGroupWith groupCount: Int, at modified: Int64, isHeld: Bool = false,
    seen: (EntityKey) -> SeenWrites? = { _ in nil }
  )
    throws -> Bool
  {
    let isHeld = isHeld || DeletionGuard.holds(keys.count, of: groupCount)
    for key in keys where shown(key)?.exists == true {
      try change(key, [(.life, Operation.deleted)], seen(key) ?? SeenWrites(shown(key)), at: modified, isHeld: isHeld)
    }
    return !isHeld
  }

  /// Appends the deletions that wait.
  package mutating func acceptDeletions() {
    for index in pending.indices { pending[index].isHeld = false }
  }

  /// Takes back the deletions that wait, also for this device.
  /// - Parameter isTaken: Which of them.
  package mutating func discardDeletions(_ isTaken: (EntityKey) -> Bool = { _ in true }) {
    pending.removeAll { $0.isHeld && isTaken($0.operation.key) }
  }

  /// The bytes of a value of this space.
  /// - Throws: `objectMissing`; `tag` for an object that does not open or has another length.
  package func content(of value: Value, _ objects: ObjectSource) throws -> LockedBytes {
    switch value {
    case .clear(let bytes): return LockedBytes(try Secret(copying: bytes))
    case .secret(let secret): return LockedBytes(try values.open(secret))
    case .object(let name, let count, _): return try resolve(name, count: count) { try uploads[$0] ?? objects($0) }
    }
  }

  /// The same, sealed: of many values that are written one after the other, locked memory need not hold all.
  package func sealedContent(of value: Value, _ objects: ObjectSource) throws -> SealedSecret {
    if case .secret(let secret) = value { return secret }
    return try values.seal(content(of: value, objects).secret)
  }

  package func open(_ secret: SealedSecret) throws -> LockedBytes { LockedBytes(try values.open(secret)) }

  /// Values that were sealed under a key of a removed device, and that no read has shown, are sealed anew. The new operation
  /// replaces the former one too, in case the engine has that, and later ones replace both.
  /// - Parameter open: Returns the content of an object that is sealed again; nil for one that stays.
  mutating func renewObjects(_ open: (Operation, [UInt8]) throws -> LockedBytes?) throws {
    var renewed: [Identifier: Identifier] = [:]
    for index in pending.indices {
      let old = pending[index].operation
      var hasChanged = false
      var parts = try old.parts.map { part in
        let more = part.replaced.compactMap { renewed[$0] }
        hasChanged = hasChanged || !more.isEmpty
        guard case .object(let name, _, let setting) = part.value, let sealed = uploads[name],
          let content = try open(old, sealed)
        else { return (part.register, part.replaced + more, part.value) }
        hasChanged = true
        uploads[name] = nil
        return (part.register, part.replaced + more, try object(content.secret, of: setting))
      }
      guard hasChanged else { continue }
      for index in parts.indices { parts[index].1.append(old.dot) }
      let operation = try Operation(
        old.kind, author: id, tag: old.tag, modified: old.modified,
        parts: parts.map { Operation.Part(register: $0.0, replaced: $0.1.sorted(), value: $0.2) }, values)
      renewed[old.dot] = operation.dot
      pending[index] = PendingOperation(operation: operation, isHeld: pending[index].isHeld)
    }
  }
}

/// Many deletions at once wait at their author. Section 6 of docs/sync-format.md.
package enum DeletionGuard {
  static let maximumCount = 50
  /// The divisor for the part of a group.
  static let maximumPart = 5

  /// - Parameters:
  ///   - count: The number of deletions.
  ///   - groupCount: The number of items in the group before them.
  package static func holds(_ count: Int, of groupCount: Int) -> Bool {
    count > maximumCount && count * maximumPart > groupCount
  }
}
