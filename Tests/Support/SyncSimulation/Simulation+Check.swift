import CofferTesting
import VaultCore

@testable import CofferSync

/// The promises, judged by what the persons saw when they made their changes, and not by the rules of the fold.
extension Simulation {
  /// The devices that go on together. One that has left a history in which it was removed writes nothing until an owner has removed it
  /// again.
  private var members: [SimulatedDevice] {
    let living = devices.filter {
      $0.replica.isMember && $0.replica.halt == nil && !$0.replica.awaitedRemovals.contains($0.replica.id)
    }
    return living.filter { device in !living.contains { $0.hasRemoved(device) } }
  }

  func check(hasSettled: Bool) throws {
    let members = members
    try checkRemovals(devices)
    guard hasSettled else { throw Fault.notConverged }
    guard let first = members.first else { return }
    for device in members {
      guard device.replica.chain == first.replica.chain, device.replica.membership == first.replica.membership,
        try device.replica.state.digest(device.replica.values) == first.replica.state.digest(first.replica.values)
      else { throw Fault.notConverged }
    }
    let writers = members.filter { ($0.replica.membership[$0.replica.id]?.role ?? .reader) <= .member }
    for device in writers where !device.replica.pending.isEmpty && device.replica.awaitedRemovals.isEmpty {
      throw Fault.stillPending
    }
    // One that began with a checkpoint lacks the operations before it. All have the same chain and state.
    guard let whole = members.first(where: { $0.replica.kept.first?.number == 0 }) else { return }
    try checkValues(whole, writers.filter { $0.replica.awaitedRemovals.isEmpty })
  }

  mutating func cover() {
    coverage[.crash] = engine.crashes
    guard let replica = devices.first(where: { $0.replica.isMember && $0.replica.halt == nil })?.replica else { return }
    coverage[.settled] += 1
    coverage[.removal] += replica.membership.removed.count
    coverage[.checkpoint] += replica.checkpoints.count
    coverage[.conflict] += replica.state.entities.values.filter { $0[.secret].count > 1 || $0[.content].count > 1 }.count
    coverage[.voidEntry] += replica.kept.filter { !$0.isValid }.count
    coverage[.refused] += devices.filter { !$0.replica.refused.isEmpty }.count
  }

  /// Owners make checkpoints, and days pass. A new device finds in what is left what the others have.
  mutating func checkLateDevice() throws {
    func owner() -> SimulatedDevice? {
      members.first {
        $0.replica.membership[$0.replica.id]?.role == .owner && !$0.replica.hasMore && $0.replica.awaitedRemovals.isEmpty
      }
    }
    guard let first = owner() else { return }
    let entries = engine.deleted[0]?.count ?? 0
    let objects = Set(engine.objects.keys)
    for device in devices { device.garbage = GarbageCollection(entryLooks: 1, objectLooks: 1) }
    for _ in 0..<2 { try first.appendCheckpoint(engine) }
    for _ in 0..<3 {
      for device in members {
        try device.synchronise(engine)
        try device.inspect(engine)
      }
    }
    coverage[.deletedEntry] += (engine.deleted[0]?.count ?? 0) - entries
    coverage[.deletedObject] += objects.subtracting(engine.objects.keys).count
    let identity = try Self.identity(devices.count)
    try first.change { $0.add(identity.record(.member)) }
    try first.synchronise(engine)
    guard let welcome = Welcome(first.replica), first.replica.membership[identity.id] != nil else { throw Fault.stillPending }
    let late = try Replica(joining: identity, welcome, engine, ValueKey())
    guard late.chain == first.replica.chain,
      try late.state.digest(late.values) == first.replica.state.digest(first.replica.values)
    else { throw Fault.notConverged }
    for (key, entity) in first.replica.state.entities where key.kind == .item {
      guard let other = late.state[key], try values(other, key.kind, late) == values(entity, key.kind, first.replica) else {
        throw Fault.lost
      }
    }
  }

  /// No history has an entry that a device made, behind the entry that removed it.
  private func checkRemovals(_ members: [SimulatedDevice]) throws {
    for device in members {
      var removed: Set<Int> = []
      for entry in try device.replica.history() {
        if let maker = engine.makers[entry.bytes], removed.contains(maker) { throw Fault.acceptedAfterRemoval }
        for id in entry.removed { removed.formUnion(devices.filter { $0.identity.id == id }.map(\.index)) }
      }
    }
  }

  private func checkValues(_ device: SimulatedDevice, _ writers: [SimulatedDevice]) throws {
    let replica = device.replica
    let operations = try replica.keptOperationsForTests()
    let accepted = Set(operations.map(\.dot))
    let known = Set(changes.map(\.dot))
    // Operations with large values, and those that build on them, are written again for another epoch, and replace the former ones.
    let rewritten = Set(operations.filter { !known.contains($0.dot) }.flatMap { $0.parts.flatMap(\.replaced) })
    // The changes of devices that may still write, and those that they had folded in a history that they left.
    let indices = Set(writers.map(\.index))
    for change in changes
    where indices.contains(change.author) && !accepted.contains(change.dot) && !rewritten.contains(change.dot) {
      let anew = operations.filter { $0.key == change.key && !known.contains($0.dot) }
      let isRefused = devices[change.author].replica.refused.contains { $0.dot == change.dot }
      guard forgotten.contains(change.dot), try isRefused || wasReplaced(change) || isValue(of: change, in: anew, replica) else {
        throw Fault.lost
      }
    }
    // Those that their device has left behind two checkpoints since then were judged above.
    let judged = forgotten.intersection(changes.filter { indices.contains($0.author) }.map(\.dot))
    for (device, dot) in folded where indices.contains(device) && !judged.contains(dot) {
      guard accepted.contains(dot) || rewritten.contains(dot) else { throw Fault.lost }
    }
    let late = try replica.lateOperations()
    let quota = try QuotaModel(operations)
    guard quota.used == replica.state.quota.used(by: Self.store).bytes else { throw Fault.quotaWrong }
    for (key, all) in Dictionary(grouping: changes, by: \.key) {
      // Values that a device completed, or that were written anew, are not among the changes.
      guard !operations.contains(where: { $0.key == key && !known.contains($0.dot) }) else { continue }
      try checkEntity(replica, key, all.filter { accepted.contains($0.dot) && !quota.refused.contains($0.dot) }, late)
    }
  }

  /// Whether a later change has replaced the value. A deletion has none.
  private func wasReplaced(_ change: Change) -> Bool {
    guard let value = change.value else { return true }
    return changes.contains {
      $0.key == change.key && ($0.seen.contains(value) || $0.isDeletion && $0.seenLives.contains(change.dot))
    }
  }

  private func isValue(of change: Change, in operations: [CofferSync.Operation], _ replica: Replica) throws -> Bool {
    try operations.contains { try $0[change.key.kind.valueRegister].map { try text($0.value, replica) } == change.value }
  }

  private func checkEntity(_ replica: Replica, _ key: EntityKey, _ changes: [Change], _ late: Set<Identifier>) throws {
    let seenLives = changes.reduce(into: Set<Identifier>()) { $0.formUnion($1.seenLives) }
    let exists = changes.contains { !$0.isDeletion && !seenLives.contains($0.dot) }
    guard let entity = replica.state[key] else {
      if exists { throw Fault.itemLost }
      return
    }
    // The state had forgotten that it was replaced.
    let returned = changes.filter { late.contains($0.dot) }
    if entity.exists != exists, exists || returned.isEmpty { throw exists ? Fault.itemLost : Fault.resurrected }
    let replaced = changes.reduce(into: Set<String>()) { $0.formUnion($1.seen) }
    let expected = Set(changes.compactMap(\.value)).subtracting(replaced)
    // A write that came later keeps the item. Then the deleted values are conflicts, or the state had forgotten them with the item.
    let deletedLives = changes.filter(\.isDeletion).reduce(into: Set<Identifier>()) { $0.formUnion($1.seenLives) }
    let deleted = Set(changes.filter { deletedLives.contains($0.dot) }.compactMap(\.value))
    let visible = try values(entity, key.kind, replica)
    guard expected.subtracting(deleted).isSubset(of: visible) else { throw Fault.lost }
    guard visible.isSubset(of: expected.union(returned.compactMap(\.value))) else { throw Fault.resurrected }
  }
}

extension SimulatedDevice {
  /// Whether it has removed another device that does not learn of it by reading: its person has accepted a log with garbage in the place
  /// of an old entry, behind which nothing follows, which the command refuses unless it is forced; or an owner has deleted such garbage,
  /// and the device stops in front of the gap, where the command says that it was removed.
  fileprivate func hasRemoved(_ other: SimulatedDevice) -> Bool {
    guard replica.membership.removed.contains(other.replica.id) else { return false }
    if other.lacksEntries, replica.kept.contains(where: { $0.number == other.replica.count && !$0.isValid }) { return true }
    let garbage = other.replica.kept.filter { !$0.isValid }
    return garbage.contains { entry in
      replica.kept.contains { $0.number == entry.number && $0.isValid && $0.bytes != entry.bytes }
    }
  }
}

extension Replica {
  /// The operations that came so late behind one that replaces them that two checkpoints lie between: a device had them in a history that
  /// it left, or was off.
  func lateOperations() throws -> Set<Identifier> {
    var generation = 0
    var (replaced, late): ([Identifier: Int], Set<Identifier>) = ([:], [])
    for entry in kept where entry.isValid {
      let sealed = try SealedEntry(parsing: entry.bytes)
      guard let key = keys[sealed.epoch] else { continue }
      switch try sealed.open(key).body(values).payload {
      case .checkpoint: generation += 1
      case .operations(let operations):
        for operation in operations {
          if let since = replaced[operation.dot], generation - since >= Int(SpaceState.maximumAge) { late.insert(operation.dot) }
          for dot in operation.parts.flatMap(\.replaced) where replaced[dot] == nil { replaced[dot] = generation }
        }
      default: break
      }
    }
    return late
  }
}
