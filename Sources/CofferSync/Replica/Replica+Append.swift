import SecretMemory
package import VaultCore

extension Replica {
  /// The next entry that this device has to append; nil if there is none.
  mutating func nextEntry() throws -> [UInt8]? {
    if count == 0 {
      guard case .genesis(let random, let record)? = drafts.first, let key = hints[0] else { return nil }
      return try seal(.genesis(random: random, record), clear: SealedKeys.seal(key, for: [record]), key: key)
    }
    guard let own = membership[id], let key = keys[epoch] else { return nil }
    while let draft = drafts.first {
      let (payload, clear) = try self.payload(of: draft, key)
      do {
        try membership.check(body(payload), by: own)
        return try seal(payload, clear: clear, key: key)
      } catch is VoidCause {
        // The right has gone, or another device has done it.
        drafts.removeFirst()
      }
    }
    if awaitedRemovals.isEmpty, own.role <= .member, let batch = try nextOperations() {
      return try seal(.operations(batch), clear: [], key: key)
    }
    return wantsPresence ? try seal(.presence, clear: [], key: key) : nil
  }

  private func body(_ payload: Payload) -> Body {
    let isCheckpoint = if case .checkpoint = payload { true } else { false }
    return Body(link: payload.isLinked || isCheckpoint ? membership.link : nil, payload)
  }

  func seal(_ payload: Payload, clear: [UInt8], key: LockedBytes) throws -> [UInt8] {
    try SealedEntry.seal(body(payload), clear: clear, position: position, key: key, author: identity, values)
  }

  private func payload(of draft: Draft, _ key: LockedBytes) throws -> (Payload, clear: [UInt8]) {
    switch draft {
    case .genesis(let random, let record): return (.genesis(random: random, record), [])
    case .add(let record): return (.add(record), try SealedKeys.seal(key, for: [record]))
    case .role(let id, let role): return (.role(id, role), [])
    case .rejoin(let left): return (.rejoin(left), [])
    case .remove(let ids, let erase):
      let present = ids.filter { membership[$0] != nil }.sorted()
      let next = LockedBytes(try .random(count: Key.byteCount))
      let back = try SealedKeys.sealBack(key, under: next, space)
      return (
        .remove(present, erase: erase), back + (try SealedKeys.sealNext(next, for: membership.staying(without: present), space))
      )
    }
  }

  /// As many pending operations as fit into an entry, in order.
  private func nextOperations() throws -> [Operation]? {
    var batch: [Operation] = []
    var bytes = 0
    for pending in pending where !pending.isHeld {
      let count = pending.operation.byteCount
      if !batch.isEmpty && (batch.count == Operation.batch.count || bytes + count > Operation.batch.bytes) { break }
      batch.append(pending.operation)
      bytes += count
    }
    return batch.isEmpty ? nil : batch
  }

  /// The objects that an entry of pending operations names.
  func upload(to engine: any Engine) throws {
    for (name, object) in uploads { try engine.put(name, object) }
  }

  // MARK: Members

  /// Adds a device; an entry follows with the next `synchronise`, if this device may.
  package mutating func add(_ record: DeviceRecord) { drafts.append(.add(record)) }

  /// Removes devices, and makes the next key in the same entry.
  package mutating func remove(_ ids: [Identifier], erase: Bool = false) { drafts.append(.remove(ids, erase: erase)) }

  package mutating func setRole(_ id: Identifier, _ role: Role) { drafts.append(.role(id, role)) }

  /// Whether this device may do it now.
  func allows(_ draft: Draft) -> Bool {
    guard let own = membership[id] else { return false }
    do {
      try membership.check(body(draft.payload), by: own)
      return true
    } catch {
      return false
    }
  }
}

extension Operation {
  /// An upper bound of its length in an entry.
  var byteCount: Int {
    parts.reduce(59) { count, part in
      let isObject = part.value.count > Value.maximumInlineCount
      return count + 7 + 16 * part.replaced.count + (isObject ? 32 : part.value.count)
    }
  }
}
