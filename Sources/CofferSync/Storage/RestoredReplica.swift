import SecretMemory
import VaultCore

extension Replica {
  /// The replica of parts that `store` has made.
  /// - Parameters:
  ///   - entry: The entry with a number, if it was kept. One that is missing or changed is forgotten, with those before it: it
  ///     cannot be appended to an engine that was put back.
  ///   - object: An object that was kept.
  ///   - nextPart: The parts in order; nil at their end.
  /// - Throws: `StoredReplicaError`; the errors of the machine and of the closures.
  package init(
    restoring identity: DeviceIdentity, _ values: ValueKey, entry: (UInt64, ObjectName) throws -> [UInt8]?, object: ObjectSource,
    nextPart: () throws -> LockedBytes?
  ) throws {
    var builder: ReplicaBuilder?
    do {
      while let part = try nextPart() {
        var reader = BodyReader(part)
        while reader.remaining > 0 {
          let count: UInt32 = try reader.readInteger()
          guard let kind = StoredRecord(rawValue: try reader.readInteger()), builder?.isComplete != true else {
            throw VoidCause.form
          }
          var record = BodyReader(LockedBytes(try reader.readLocked(Int(count))))
          if builder == nil {
            guard kind == .place else { throw VoidCause.form }
            builder = try ReplicaBuilder(identity, values, &record)
          } else {
            try builder?.add(kind, &record, entry, object)
          }
          try record.readEnd()
        }
      }
      guard var builder, builder.isComplete else { throw VoidCause.form }
      self = try builder.finish()
    } catch is VoidCause {
      throw StoredReplicaError.malformed
    }
  }
}

/// Takes the records of a stored replica.
private struct ReplicaBuilder {
  private var replica: Replica
  private var state = StateBuilder()
  /// The stores of settings come before the rows, which are read with them.
  private var stores: [Identifier: String] = [:]
  private var count: UInt64 = 1
  private(set) var isComplete = false

  /// Reads the place of the replica.
  init(_ identity: DeviceIdentity, _ values: ValueKey, _ reader: inout BodyReader) throws {
    _ = try reader.readByte(in: Replica.storedVersion...Replica.storedVersion)
    let device = try reader.readIdentifier()
    replica = Replica(identity, space: try reader.readIdentifier(), values)
    guard device == replica.id else { throw StoredReplicaError.otherDevice }
    replica.position.number = try reader.readInteger()
    replica.position.chain = try reader.readDigest()
    replica.position.epoch = try reader.readInteger()
    replica.membership.link = try reader.readDigest()
    replica.membership.linkNumber = try reader.readInteger()
    let voidRun: UInt64 = try reader.readInteger()
    replica.voidRun = Int(clamping: voidRun)
    let halt = try reader.readByte(in: 0...UInt8(Halt.storedCauses.count))
    replica.halt = halt == 0 ? nil : Halt.storedCauses[Int(halt) - 1]
    let flags = try reader.readByte(in: 0...3)
    (replica.wantsPresence, replica.isErased) = (flags & 1 != 0, flags & 2 != 0)
  }

  mutating func add(
    _ kind: StoredRecord, _ reader: inout BodyReader, _ entry: (UInt64, ObjectName) throws -> [UInt8]?, _ object: ObjectSource
  ) throws {
    switch kind {
    case .place: throw VoidCause.form
    case .key, .member, .removed, .awaited, .lastEntry: try addMember(kind, &reader)
    case .kept: try addKept(&reader, entry)
    case .checkpoint, .partName, .namedObject, .linked, .left, .stray: try addLog(kind, &reader)
    case .pending:
      let isHeld = try reader.readByte(in: 0...1) == 1
      replica.pending.append(PendingOperation(operation: try operation(&reader), isHeld: isHeld))
    case .refused: replica.refused.append(try operation(&reader))
    case .draft:
      let kind: UInt8 = try reader.readInteger()
      guard let draft = Draft(try payload(kind, &reader)) else { throw VoidCause.form }
      replica.drafts.append(draft)
    case .upload:
      let name = ObjectName(digest: try reader.readDigest())
      guard let bytes = try object(name), ObjectName(of: bytes) == name else { throw StoredReplicaError.objectMissing(name) }
      replica.uploads[name] = bytes
    case .store:
      let tag = try reader.readIdentifier()
      stores[tag] = try reader.readName(atMost: 255)
    case .row:
      let row = try StateRow(reading: &reader, generation: state.state.generation, replica.values)
      try state.add(row, Self.store(in: stores))
    case .end:
      guard try reader.readInteger() == count else { throw VoidCause.form }
      isComplete = true
    }
    count += 1
  }

  /// A closure that holds the builder would hold its state too, which each change would copy then.
  private static func store(in stores: [Identifier: String]) -> (EntityKey, Entity) -> String? {
    { key, _ in key.kind == .setting ? stores[key.tag] : nil }
  }

  private func operation(_ reader: inout BodyReader) throws -> Operation {
    try Operation(reading: &reader, sender: replica.id, replica.values)
  }

  private func payload(_ kind: UInt8, _ reader: inout BodyReader) throws -> Payload {
    try Body(kind: kind, author: replica.id, reading: &reader, replica.values).payload
  }

  private mutating func addMember(_ kind: StoredRecord, _ reader: inout BodyReader) throws {
    switch kind {
    case .key:
      let isHint = try reader.readByte(in: 0...1) == 1
      let epoch: UInt32 = try reader.readInteger()
      let key = LockedBytes(try reader.readLocked(Key.byteCount))
      if isHint { replica.hints[epoch] = key } else { replica.keys[epoch] = key }
    case .member: replica.membership.apply(.add(try DeviceRecord(reading: &reader)))
    case .removed: replica.membership.apply(.remove([try reader.readIdentifier()], erase: false))
    case .awaited: replica.awaitedRemovals.insert(try reader.readIdentifier())
    default:
      let device = try reader.readIdentifier()
      replica.lastEntries[device] = LastEntry(number: try reader.readInteger(), chain: try reader.readDigest())
    }
  }

  private mutating func addKept(_ reader: inout BodyReader, _ entry: (UInt64, ObjectName) throws -> [UInt8]?) throws {
    let number: UInt64 = try reader.readInteger()
    let isValid = try reader.readByte(in: 0...1) == 1
    let digest = try reader.readDigest()
    guard replica.kept.last.map({ $0.number + 1 == number }) ?? true, number < replica.count else { throw VoidCause.form }
    guard let bytes = try entry(number, ObjectName(digest: digest)), ObjectName(of: bytes).digest == digest else {
      replica.kept = []
      return
    }
    replica.kept.append(Replica.KeptEntry(number: number, bytes: bytes, isValid: isValid))
  }

  private mutating func addLog(_ kind: StoredRecord, _ reader: inout BodyReader) throws {
    func name() throws -> ObjectName { ObjectName(digest: try reader.readDigest()) }
    switch kind {
    case .checkpoint:
      let (number, count): (UInt64, UInt32) = (try reader.readInteger(), try reader.readInteger())
      guard Int(count) * Digest.byteCount == reader.remaining else { throw VoidCause.form }
      let objects = try (0..<count).map { _ in try name() }
      replica.checkpoints.append(Replica.Checkpoint(number: number, objects: objects))
    case .partName:
      let digest = try reader.readDigest().bytes
      replica.partNames[digest] = try name()
    case .namedObject:
      let number: UInt64 = try reader.readInteger()
      replica.namedObjects.append((number, try name()))
    case .stray: replica.strays.insert(try name())
    case .linked: replica.linkedNumbers.insert(try reader.readInteger())
    default:
      let device = try reader.readIdentifier()
      guard case .rejoin(let left) = try payload(8, &reader) else { throw VoidCause.form }
      replica.leftHistories.append((device, left))
    }
  }

  mutating func finish() throws -> Replica {
    replica.state = try state.finish(Self.store(in: stores))
    return replica
  }
}
