import SecretMemory
import VaultCore

extension Replica {
  /// Folds the next entry of the log. Section 5.3 of docs/sync-format.md.
  /// - Parameter isAccepted: While a history is folded that the person has accepted: forks and false checkpoints are void.
  /// - Returns: The cause, if the entry is void.
  /// - Throws: `Halt`, and the errors of the machine: then nothing has changed, and the entry is folded later.
  @discardableResult
  package mutating func fold(
    _ entry: [UInt8], isAccepted: Bool = false
  ) throws -> VoidCause? {
    guard !membership.removed.contains(id) else { throw Halt.removed }
    do {
      let proven = try prove(entry, isAccepted: isAccepted)
      try apply(proven, entry)
      let number = position.number
      advance(entry, isValid: true)
      lastEntries[proven.author] = LastEntry(number: number, chain: chain)
      return nil
    } catch let cause as VoidCause {
      advance(entry, isValid: false)
      return cause
    }
  }

  private mutating func advance(_ entry: [UInt8], isValid: Bool) {
    let bytes = Array(entry.prefix(SealedEntry.maximumByteCount + 1))
    if kept.count == 2 * Self.keptCount { kept.removeFirst(Self.keptCount) }
    kept.append(KeptEntry(number: position.number, bytes: bytes, isValid: isValid))
    voidRun = isValid ? 0 : voidRun + 1
    position.chain = Chain.after(position.chain, bytes)
    position.number += 1
  }

  /// The two kinds that can fail on the way change a copy.
  private mutating func apply(_ proven: ProvenEntry, _ entry: [UInt8]) throws {
    let payload = proven.body.payload
    if case .remove(let removed, _) = payload, !removed.contains(id), let key = proven.nextKey {
      var next = self
      next.keys[position.epoch + 1] = key
      next.position.epoch += 1
      next.membership.apply(payload)
      next.awaitedRemovals.subtract(removed)
      // The device that is removed has the former key.
      let sealer = sealer
      try next.renewObjects { operation, object in operation.author == id ? try sealer.open(object) : nil }
      self = next
    } else {
      membership.apply(payload)
    }
    if payload.isLinked {
      membership.follow(entry, position.number)
      linkedNumbers.insert(position.number)
    }
    drop(draftsDoneBy: payload, of: proven.author)
    switch payload {
    case .genesis: keys[0] = proven.nextKey
    case .operations(let operations): fold(operations, proven.stores)
    case .checkpoint(let checkpoint):
      var next = self
      try next.fold(checkpoint: checkpoint.objects)
      self = next
    case .rejoin(let left): leftHistories.append((proven.author, left))
    case .presence: if proven.author == id { wantsPresence = false }
    case .remove(let removed, let erase):
      for device in removed { lastEntries[device] = nil }
      if removed.contains(id) { isErased = erase }
    case .add, .role: break
    }
  }

  private mutating func fold(_ operations: [Operation], _ stores: [Int: String]) {
    touch(operations)
    for (index, operation) in operations.enumerated() {
      let outcome = state.fold(operation, store: stores[index])
      if outcome == .refused, operation.author == id { refused.append(operation) }
      for name in operation.parts.compactMap(\.value.object) {
        namedObjects.append((position.number, name))
        uploads[name] = nil
      }
    }
    guard !pending.isEmpty else { return }
    let dots = Set(operations.map(\.dot))
    pending.removeAll { dots.contains($0.operation.dot) }
  }

  private mutating func fold(checkpoint objects: [ObjectName]) throws {
    let before = state
    for name in objects { uploads[name] = nil }
    state.age()
    checkpoints = checkpoints.suffix(1) + [Checkpoint(number: position.number, objects: objects)]
    if checkpoints.count == 2 { namedObjects.removeAll { $0.number < checkpoints[0].number } }
    // Parts of an earlier one may have been deleted.
    let names = Set(checkpoints.flatMap(\.objects))
    partNames = partNames.filter { names.contains($0.value) }
    try completePending(from: before)
  }

  /// A pending edit of an item that was forgotten meanwhile needs the values that it did not change.
  mutating func completePending(from before: SpaceState) throws {
    for pending in pending where state[pending.operation.key] == nil {
      let operation = pending.operation
      guard operation[.life]?.value == Operation.alive, let former = before[operation.key] else { continue }
      let written = self.pending[operation.key].flatMap(\.operation.parts).map(\.register)
      let missing = [Register.content, .secret].filter { !written.contains($0) && former.shown($0) != nil }
      guard !missing.isEmpty else { continue }
      let parts = missing.compactMap { register in
        former.shown(register).map { Operation.Part(register: register, replaced: [], value: $0) }
      }
      self.pending.append(
        PendingOperation(
          operation: try Operation(
            operation.kind, author: id, tag: operation.tag, modified: operation.modified, parts: parts, values)))
    }
  }

  private mutating func drop(draftsDoneBy payload: Payload, of author: Identifier) {
    drafts.removeAll { draft in
      switch (draft, payload) {
      case (.genesis, .genesis): true
      case (.add(let record), _): membership[record.id] != nil
      case (.remove(let ids, _), _): ids.allSatisfy { membership[$0] == nil }
      case (.role(let id, let role), _): membership[id]?.role == role
      case (.rejoin(let left), .rejoin(let read)): author == id && left == read
      default: false
      }
    }
  }
}
