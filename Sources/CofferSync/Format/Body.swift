package import VaultCore

/// The change that an entry makes. Section 3 of docs/sync-format.md.
package enum Payload: Sendable {
  case genesis(random: [UInt8], DeviceRecord)
  case add(DeviceRecord)
  case remove([Identifier], erase: Bool)
  case role(Identifier, Role)
  case operations([Operation])
  case checkpoint(CheckpointPayload)
  case presence
  case rejoin(LeftHistory)

  var kind: UInt8 {
    switch self {
    case .genesis: 1
    case .add: 2
    case .remove: 3
    case .role: 4
    case .operations: 5
    case .checkpoint: 6
    case .presence: 7
    case .rejoin: 8
    }
  }

  /// Entries that are never deleted, and of which each names the one before.
  var isLinked: Bool {
    switch self {
    case .genesis, .add, .remove, .role, .rejoin: true
    case .operations, .checkpoint, .presence: false
    }
  }
}

/// The end of a history that a device has left.
package struct LeftHistory: Equatable, Sendable {
  package let number: UInt64
  package let chain: Digest
  /// Devices that were removed there, and are members here.
  package let removed: [Identifier]
}

/// A payload with its link. Reader and writer of the payloads.
struct Body: Sendable {
  /// In a checkpoint too, which is not linked itself.
  let link: Digest?
  let payload: Payload

  init(link: Digest?, _ payload: Payload) { (self.link, self.payload) = (link, payload) }

  /// - Parameter sender: Operations of other devices name their author.
  func encoded(by sender: Identifier, _ values: ValueKey) throws -> LockedBytes {
    var writer = BodyWriter()
    if let link { writer.append(link) }
    switch payload {
    case .genesis(let random, let record):
      writer.append(random)
      record.write(to: &writer)
    case .add(let record): record.write(to: &writer)
    case .remove(let devices, let erase):
      writer.append(UInt8(erase ? 1 : 0))
      writer.append(UInt16(devices.count))
      for device in devices.sorted() { writer.append(device) }
    case .role(let device, let role):
      writer.append(device)
      writer.append(role.rawValue)
    case .operations(let operations):
      for operation in operations { try operation.write(to: &writer, sender: sender, values) }
    case .checkpoint(let checkpoint): checkpoint.write(to: &writer)
    case .presence: break
    case .rejoin(let left):
      writer.append(left.number)
      writer.append(left.chain)
      writer.append(UInt16(left.removed.count))
      for device in left.removed.sorted() { writer.append(device) }
    }
    return try writer.finish()
  }

  /// - Throws: `form`.
  init(kind: UInt8, author: Identifier, reading reader: inout BodyReader, _ values: ValueKey) throws {
    let hasLink = kind != 5 && kind != 7
    link = hasLink ? try reader.readDigest() : nil
    switch kind {
    case 1: payload = .genesis(random: try reader.read(32), try DeviceRecord(fromEntry: &reader))
    case 2: payload = .add(try DeviceRecord(fromEntry: &reader))
    case 3:
      let erase = try reader.readByte(in: 0...1) == 1
      let count: UInt16 = try reader.readInteger()
      guard count > 0 else { throw VoidCause.form }
      payload = .remove(try reader.readAscending(Int(count)), erase: erase)
    case 4:
      let device = try reader.readIdentifier()
      guard let role = Role(rawValue: try reader.readInteger()) else { throw VoidCause.form }
      payload = .role(device, role)
    case 5:
      var operations: [Operation] = []
      repeat { operations.append(try Operation(reading: &reader, sender: author, values)) } while reader.remaining > 0
      payload = .operations(operations)
    case 6: payload = .checkpoint(try CheckpointPayload(reading: &reader))
    case 7: payload = .presence
    case 8:
      let (number, chain): (UInt64, Digest) = (try reader.readInteger(), try reader.readDigest())
      let count: UInt16 = try reader.readInteger()
      payload = .rejoin(LeftHistory(number: number, chain: chain, removed: try reader.readAscending(Int(count))))
    default: throw VoidCause.form
    }
    try reader.readEnd()
  }
}
