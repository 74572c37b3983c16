import VaultCore

/// The state after the entry before a checkpoint. Section 7 of docs/sync-format.md.
package struct CheckpointPayload: Sendable {
  /// The number of the last entry that is never deleted.
  let linkNumber: UInt64
  /// The digest of the rows.
  let state: Digest
  /// The last entries of the members that have made one: a device that reads on from here finds whether this is the history of those
  /// that it has read.
  let lastEntries: [Identifier: LastEntry]
  let objects: [ObjectName]

  func write(to writer: inout BodyWriter) {
    writer.append(linkNumber)
    writer.append(state)
    writer.append(UInt16(lastEntries.count))
    for (device, last) in lastEntries.sorted(by: { $0.key < $1.key }) {
      writer.append(device)
      writer.append(last.number)
      writer.append(last.chain)
    }
    writer.append(UInt16(objects.count))
    for object in objects { writer.append(object.digest) }
  }
}

extension CheckpointPayload {
  /// - Throws: `form`.
  init(reading reader: inout BodyReader) throws {
    (linkNumber, state) = (try reader.readInteger(), try reader.readDigest())
    var (entries, former): ([Identifier: LastEntry], Identifier?) = ([:], nil)
    let entryCount: UInt16 = try reader.readInteger()
    for _ in 0..<entryCount {
      let device = try reader.readIdentifier()
      guard former.map({ $0 < device }) ?? true else { throw VoidCause.form }
      entries[device] = LastEntry(number: try reader.readInteger(), chain: try reader.readDigest())
      former = device
    }
    lastEntries = entries
    let count: UInt16 = try reader.readInteger()
    guard Int(count) * Digest.byteCount <= reader.remaining else { throw VoidCause.form }
    objects = try (0..<count).map { _ in ObjectName(digest: try reader.readDigest()) }
  }
}

/// The last valid entry of a device.
package struct LastEntry: Equatable, Sendable {
  package let number: UInt64
  /// C of this entry: it stands for all entries up to it.
  let chain: Digest

  /// Whether a history whose entry of this device is the other one has this one, too. A later one was made by the same device: it has
  /// left no history in between, because the `rejoin` of that is never deleted.
  func isContinued(by other: LastEntry?) -> Bool {
    guard let other else { return false }
    return other.number > number || other == self
  }
}
