package import VaultCore

extension Replica {
  /// Leaves the own history for that of the engine. Section 3.3 of docs/sync-format.md.
  ///
  /// The history of the engine is folded anew, as by a new device. The rejoin, the removals and the operations that it lacks become
  /// pending. Nothing is appended before the next `synchronise`.
  /// - Throws: `notAMember` if that history does not have this device: then nothing has changed.
  package func acceptingHistory(of engine: any Engine) throws -> Replica {
    var next = Replica(identity, space: space, values)
    next.hints = keys
    guard try next.catchUp(with: engine, isAccepted: true) else { throw Halt.entriesMissing }
    guard next.isMember else { throw Halt.notAMember }
    let missing = membership.removed.filter { next.membership[$0] != nil }.sorted()
    next.drafts = [.rejoin(LeftHistory(number: count, chain: chain, removed: missing))]
    let removable = missing.filter { next.allows(.remove([$0], erase: false)) }
    if !removable.isEmpty { next.drafts.append(.remove(removable, erase: false)) }
    next.awaitedRemovals = Set(missing).subtracting(removable)
    next.drafts += drafts
    next.uploads = uploads
    next.refused = refused
    next.wantsPresence = wantsPresence
    try next.takeOperations(of: self, engine)
    return next
  }

  /// The operations that a former history had, and this one lacks.
  private mutating func takeOperations(of former: Replica, _ engine: any Engine) throws {
    // The state has forgotten which of the earlier ones were replaced: their values that are live are written anew.
    let first = former.checkpoints.count == 2 ? former.checkpoints[0].number : 0
    var operations = try former.keptOperations(from: first).filter { !state.knows($0) }
    let dots = Set(operations.map(\.dot)).union(former.pending.map(\.operation.dot))
    // Values whose operation is not kept any more are written anew, and replace nothing. Those of one operation stay together: a setting
    // is shown by its writes in both registers.
    for (key, entity) in former.state.entities.sorted(by: { $0.key < $1.key }) {
      var written: [Identifier: (modified: Int64, parts: [Operation.Part])] = [:]
      for register in Register.allCases {
        for write in entity[register] where !dots.contains(write.dot) && state[key]?.knows(write.dot) != true {
          let part = Operation.Part(register: register, replaced: [], value: write.value)
          written[write.dot, default: (write.modified, [])].parts.append(part)
        }
      }
      for (_, former) in written.sorted(by: { $0.key < $1.key }) {
        operations.append(
          try Operation(key.kind, author: id, tag: key.tag, modified: former.modified, parts: former.parts, values))
      }
    }
    let own = former.pending.filter { !state.knows($0.operation) }
    pending = PendingOperations(operations.map { PendingOperation(operation: $0) } + own)
    // The engine of a lost history may lack them.
    for operation in pending.map(\.operation) {
      for name in operation.parts.compactMap(\.value.object) where uploads[name] == nil {
        uploads[name] = try engine.get(name)
      }
    }
    // Other devices do not have the keys of epochs that only the former history had.
    let (sealer, formerSealer) = (sealer, former.sealer)
    try renewObjects { _, object in try sealer.open(object) == nil ? try formerSealer.open(object) : nil }
  }

  /// The devices that made operations, by the dots of these, as far as entries are kept.
  package func authors() throws -> [Identifier: Identifier] {
    let operations = try keptOperations() + pending.map(\.operation)
    return Dictionary(operations.map { ($0.dot, $0.author) }) { $1 }
  }

  /// The operations of the valid entries that are kept, in their order.
  /// - Parameter first: The number of the first entry.
  func keptOperations(from first: UInt64 = 0) throws -> [Operation] {
    try kept.filter { $0.isValid && $0.number >= first }.flatMap { entry -> [Operation] in
      let sealed = try SealedEntry(parsing: entry.bytes)
      guard let key = keys[sealed.epoch], case .operations(let operations) = try sealed.open(key).body(values).payload else {
        return []
      }
      return operations
    }
  }

  /// A new device folds the log that `welcome` describes. Sections 7 and 8 of docs/sync-format.md.
  /// - Throws: `notAMember`, `replaced` if the engine has another history than the device that sent the welcome.
  package init(joining identity: DeviceIdentity, _ welcome: Welcome, _ engine: any Engine, _ values: ValueKey) throws {
    self.init(identity, space: welcome.space, values)
    let entries = try Self.entries(of: engine, from: 0)
    hints = try Self.keys(leadingTo: welcome, entries, values)
    // The member that has sent the welcome has accepted it.
    guard try catchUp(with: engine, entries, isAccepted: true) else { throw Halt.entriesMissing }
    guard count >= welcome.count else { throw Halt.entriesMissing }
    guard isMember else { throw Halt.notAMember }
    // The chain at that place, from the entry after it, or at the end.
    let following = kept.first { $0.number == welcome.count }
    if count == welcome.count { guard chain == welcome.chain else { throw Halt.replaced } }
    if let following, following.isValid, try SealedEntry(parsing: following.bytes).chain != welcome.chain { throw Halt.replaced }
    guard let key = keys[welcome.epoch], key.isEqual(to: welcome.key) else { throw Halt.replaced }
  }

  /// The keys of earlier epochs: from the last entry of the members back, each removal holds the key before it.
  private static func keys(leadingTo welcome: Welcome, _ entries: [NumberedEntry], _ values: ValueKey) throws
    -> [UInt32: LockedBytes]
  {
    var byName: [ObjectName: [UInt8]] = [:]
    for entry in entries { byName[ObjectName(of: entry.bytes)] = entry.bytes }
    var keys = [welcome.epoch: welcome.key]
    var link = welcome.link
    while link != .zero {
      guard let bytes = byName[ObjectName(digest: link)] else { throw Halt.entriesMissing }
      do {
        let sealed = try SealedEntry(parsing: bytes)
        if keys[sealed.epoch] == nil, let next = keys[sealed.epoch + 1] {
          let back = Array(sealed.clear.prefix(SealedKeys.backByteCount))
          keys[sealed.epoch] = try SealedKeys.openBack(back, under: next, welcome.space)
        }
        guard let key = keys[sealed.epoch], let former = try sealed.open(key).body(values).link else { throw Halt.keyMissing }
        link = former
      } catch is VoidCause {
        throw Halt.replaced
      }
    }
    return keys
  }
}
