import CofferTesting
import SecretMemory
import VaultCore

@testable import CofferSync

/// A way to build it wrong. With each, the simulation must find a fault.
enum Flaw: CaseIterable {
  /// The greatest of several values that were written apart is kept.
  case lastWriterWins
  /// The operations of a history that was left are not appended again.
  case noResending
  /// No rejoin is appended, and no device looks at all of the log.
  case noMarker
  /// Devices that were removed stay members.
  case noMemberCheck
  /// C of an entry is not compared.
  case noChain
}

/// A device, and the state to which it returns after a crash.
final class SimulatedDevice {
  let index: Int
  let identity: DeviceIdentity
  private let flaw: Flaw?
  private(set) var replica: Replica
  /// The state in the vault.
  private var committed: Replica
  /// Whether the last reading ended at a gap that no device has closed.
  private(set) var lacksEntries = false
  /// An engine that lies about the log makes each device delete the objects of the others.
  var garbage = GarbageCollection(entryLooks: 1, objectLooks: .max)

  init(_ index: Int, _ replica: Replica, flaw: Flaw?) {
    (self.index, self.identity, self.flaw) = (index, replica.identity, flaw)
    (self.replica, committed) = (replica, replica)
  }

  /// The next process reads what the last one has stored.
  func crash() throws { replica = try committed.restored() }

  /// A change of a person, which is one transaction.
  func change(_ body: (inout Replica) throws -> Void) throws {
    try body(&replica)
    committed = replica
  }

  private func commit(_ replica: Replica) {
    committed = replica
  }

  /// - Returns: False if it has stopped until a person accepts the history.
  @discardableResult
  func synchronise(_ engine: FaultyEngine) throws -> Bool {
    engine.caller = index
    lacksEntries = false
    do {
      if flaw == .noChain { try synchroniseWithoutChain(engine) } else { try replica.synchronise(with: engine, commit: commit) }
    } catch is FaultyEngine.Crash {
      try crash()
      return true
    } catch is FaultyEngine.Outage {
      return true
    } catch let halt as Halt {
      lacksEntries = halt == .entriesMissing
      spoil()
      commit(replica)
      return !halt.isFinal
    }
    spoil()
    commit(replica)
    return true
  }

  private func synchroniseWithoutChain(_ engine: FaultyEngine) throws {
    func fold() throws {
      for entry in try engine.read(from: replica.count, limit: 500) {
        if case .success(let sealed) = Result(catching: { () throws(VoidCause) in try SealedEntry(parsing: entry.bytes) }) {
          replica.position.chain = sealed.chain
        }
        try replica.fold(entry.bytes)
      }
    }
    try fold()
    for _ in 0..<8 {
      guard let entry = try replica.nextEntry() else { return }
      try replica.upload(to: engine)
      _ = try engine.append(replica.count, entry)
      try fold()
    }
  }

  /// - Returns: The operations that the history had that was left; nil if it was not left.
  func acceptHistory(_ engine: FaultyEngine) throws -> [Operation]? {
    engine.caller = index
    // It sends only the live values of earlier ones again.
    let first = replica.checkpoints.count == 2 ? replica.checkpoints[0].number : 0
    let operations = try replica.keptOperations(from: first)
    do {
      var next = try replica.acceptingHistory(of: engine)
      if flaw == .noResending { next.pending.removeAll { pending in operations.contains { $0.dot == pending.operation.dot } } }
      if flaw == .noMarker { next.drafts.removeAll { if case .rejoin = $0 { true } else { false } } }
      replica = next
      spoil()
      commit(replica)
      return operations
    } catch is FaultyEngine.Crash {
      try crash()
    } catch is FaultyEngine.Outage {
    } catch Halt.notAMember, Halt.removed, Halt.entriesMissing, Halt.keyMissing {
    }
    return nil
  }

  func appendCheckpoint(_ engine: FaultyEngine) throws {
    engine.caller = index
    do {
      _ = try replica.appendCheckpoint(to: engine, commit: commit)
    } catch is FaultyEngine.Crash {
      return try crash()
    } catch is FaultyEngine.Outage {
    } catch is Halt {
    }
    commit(replica)
  }

  /// A day has passed for it.
  /// - Returns: As `synchronise`.
  @discardableResult
  func inspect(_ engine: FaultyEngine) throws -> Bool {
    guard replica.isMember, replica.halt == nil, flaw != .noMarker else { return true }
    engine.caller = index
    do {
      let inspection = try replica.inspect(engine, &garbage, isCounted: true)
      if inspection.undeleted is FaultyEngine.Crash || inspection.unrestored is FaultyEngine.Crash { try crash() }
    } catch is FaultyEngine.Crash {
      try crash()
    } catch is FaultyEngine.Outage {
    } catch let halt as Halt {
      commit(replica)
      return !halt.isFinal
    }
    commit(replica)
    return true
  }

  /// Does what the flaw does with a state.
  private func spoil() {
    switch flaw {
    case .lastWriterWins:
      for (key, entity) in replica.state.entities {
        var entity = entity
        for register in Register.allCases { entity[register] = Array(entity[register].prefix(1)) }
        replica.state.entities[key] = entity
      }
    case .noMemberCheck:
      for record in removedRecords where replica.membership[record.id] == nil && replica.membership.removed.contains(record.id) {
        replica.membership.devices[record.id] = record
      }
    case .noResending, .noMarker, .noChain, nil: break
    }
  }

  /// The records that a device without the check of members keeps.
  var removedRecords: [DeviceRecord] = []
}

extension Replica {
  func keptOperationsForTests() throws -> [CofferSync.Operation] { try keptOperations() }

  /// The valid entries that led to this state, with their authors, and the devices that each removed.
  func history() throws -> [(bytes: [UInt8], removed: [Identifier])] {
    try kept.filter(\.isValid).map { entry in
      let sealed = try SealedEntry(parsing: entry.bytes)
      guard let key = keys[sealed.epoch], case .remove(let removed, _) = try sealed.open(key).body(values).payload else {
        return (entry.bytes, [])
      }
      return (entry.bytes, removed)
    }
  }
}
