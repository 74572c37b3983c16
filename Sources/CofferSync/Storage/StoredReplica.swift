import SecretMemory
import VaultCore

/// The cause for which a replica cannot be read back.
package enum StoredReplicaError: Error, Equatable, Sendable {
  case malformed
  /// It is that of another device.
  case otherDevice
  /// A value that is to be appended is not there any more.
  case objectMissing(ObjectName)
}

/// A replica as bytes, for the device itself: what a process writes and the next one reads. Entries and objects are not in it, because
/// they are sealed already; it names them.
///
/// It is a list of records. A record is a u32 length, the kind, and the content; parts hold whole records. The device seals the parts.
enum StoredRecord: UInt8 {
  case place = 1
  case key, member, removed, pending, draft, awaited, kept, checkpoint, partName, namedObject, linked, refused, left, lastEntry,
    upload
  case store, row
  /// The number of records: a part that is missing at the end is noticed.
  case end
  case stray
}

extension Replica {
  static let storedVersion: UInt8 = 2
  /// In bytes. A part may have one record more; with one of an item, and its padding, it mostly takes a slot of locked memory. Larger
  /// memory is mapped each time, which takes longer than all that is done with a part.
  package static let storedPartByteCount = 3584

  /// Hands on the parts.
  package func store(_ body: (LockedBytes) throws -> Void) throws {
    var part = BodyWriter()
    var count: UInt64 = 0
    func add(_ kind: StoredRecord, _ write: (inout BodyWriter) throws -> Void) throws {
      let start = part.count
      part.append(UInt32(0))
      part.append(kind.rawValue)
      try write(&part)
      part.write(UInt32(part.count - start - 5), at: start)
      count += 1
      guard kind == .end || part.count >= Self.storedPartByteCount else { return }
      try body(try part.finish())
    }
    try add(.place, writePlace)
    try storeMembers(add)
    try storeLog(add)
    try storeChanges(add)
    for (tag, store) in state.quota.stores {
      try add(.store) { writer in
        writer.append(tag)
        writer.append(text: store)
      }
    }
    try state.forEachRow { row in try add(.row) { try row.write(to: &$0, in: state.generation, values) } }
    let total = count
    try add(.end) { $0.append(total) }
  }

  private typealias Add = (StoredRecord, (inout BodyWriter) throws -> Void) throws -> Void

  private func writePlace(_ writer: inout BodyWriter) {
    writer.append(Self.storedVersion)
    writer.append(id)
    writer.append(space)
    writer.append(position.number)
    writer.append(position.chain)
    writer.append(position.epoch)
    writer.append(membership.link)
    writer.append(membership.linkNumber)
    writer.append(UInt64(voidRun))
    writer.append(halt.flatMap { Halt.storedCauses.firstIndex(of: $0) }.map { UInt8($0 + 1) } ?? 0)
    writer.append(UInt8((wantsPresence ? 1 : 0) | (isErased ? 2 : 0)))
  }

  private func storeMembers(_ add: Add) throws {
    for (isHint, keys) in [(false, keys), (true, hints)] {
      for (epoch, key) in keys {
        try add(.key) { writer in
          writer.append(UInt8(isHint ? 1 : 0))
          writer.append(epoch)
          writer.append(key)
        }
      }
    }
    for record in membership.devices.values { try add(.member) { record.write(to: &$0) } }
    for id in membership.removed { try add(.removed) { $0.append(id) } }
    for id in awaitedRemovals { try add(.awaited) { $0.append(id) } }
    for (device, last) in lastEntries {
      try add(.lastEntry) { writer in
        writer.append(device)
        writer.append(last.number)
        writer.append(last.chain)
      }
    }
  }

  private func storeLog(_ add: Add) throws {
    for entry in kept {
      try add(.kept) { writer in
        writer.append(entry.number)
        writer.append(UInt8(entry.isValid ? 1 : 0))
        writer.append(ObjectName(of: entry.bytes).digest)
      }
    }
    for checkpoint in checkpoints {
      try add(.checkpoint) { writer in
        writer.append(checkpoint.number)
        writer.append(UInt32(checkpoint.objects.count))
        for name in checkpoint.objects { writer.append(name.digest) }
      }
    }
    for (digest, name) in partNames {
      try add(.partName) { writer in
        writer.append(digest)
        writer.append(name.digest)
      }
    }
    for (number, name) in namedObjects {
      try add(.namedObject) { writer in
        writer.append(number)
        writer.append(name.digest)
      }
    }
    for name in strays { try add(.stray) { $0.append(name.digest) } }
    for number in linkedNumbers { try add(.linked) { $0.append(number) } }
    for (device, left) in leftHistories {
      let body = try Body(link: .zero, .rejoin(left)).encoded(by: id, values)
      try add(.left) { writer in
        writer.append(device)
        writer.append(body)
      }
    }
  }

  private func storeChanges(_ add: Add) throws {
    for change in pending {
      try add(.pending) { writer in
        writer.append(UInt8(change.isHeld ? 1 : 0))
        try change.operation.write(to: &writer, sender: id, values)
      }
    }
    for operation in refused { try add(.refused) { try operation.write(to: &$0, sender: id, values) } }
    for payload in drafts.map(\.payload) {
      // An entry that removes no device does not exist.
      if case .remove(let ids, _) = payload, ids.isEmpty { continue }
      let body = try Body(link: .zero, payload).encoded(by: id, values)
      try add(.draft) { writer in
        writer.append(payload.kind)
        writer.append(body)
      }
    }
    for name in uploads.keys { try add(.upload) { $0.append(name.digest) } }
  }

  /// The entries and objects that the device keeps beside the parts.
  package var keptEntries: [NumberedEntry] { kept.map { NumberedEntry($0.number, $0.bytes) } }
  package var keptObjects: [ObjectName: [UInt8]] { uploads }
}

extension Halt {
  /// The causes that last until the person accepts the history of the engine.
  static let storedCauses: [Halt] = [.forked, .replaced, .checkpointFalse, .keyWithheld, .removed, .notAMember]
}
