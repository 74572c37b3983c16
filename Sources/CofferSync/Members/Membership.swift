import PublicKeyBoxes
import SecretMemory
package import VaultCore

/// The devices of a space after an entry, and the rules for who may change them. Section 4 of docs/sync-format.md.
package struct Membership: Equatable, Sendable {
  package static let maximumCount = 4096

  package internal(set) var devices: [Identifier: DeviceRecord] = [:]
  package private(set) var removed: Set<Identifier> = []
  /// HASH of the last entry that is never deleted, and its number.
  package internal(set) var link = Digest.zero
  package internal(set) var linkNumber: UInt64 = 0

  package init() {}

  package subscript(id: Identifier) -> DeviceRecord? { devices[id] }

  /// In the order in which a removal seals keys for them.
  func staying(without removed: [Identifier]) -> [DeviceRecord] {
    devices.values.filter { !removed.contains($0.id) }.sorted { $0.id < $1.id }
  }

  /// - Throws: `link`, `right`, `record`, `target`; in this order.
  func check(_ body: Body, by author: DeviceRecord) throws(VoidCause) {
    if let link = body.link, link != self.link { throw .link }
    if case .checkpoint(let checkpoint) = body.payload, checkpoint.linkNumber != linkNumber { throw .link }
    guard allows(body.payload, by: author) else { throw .right }
    switch body.payload {
    case .add(let record):
      guard devices[record.id] == nil, !removed.contains(record.id), devices.count < Self.maximumCount else { throw .record }
    case .remove(let ids, _):
      // A draft whose devices others have removed names none.
      guard !ids.isEmpty, ids.allSatisfy({ devices[$0] != nil && $0 != author.id }), hasOwner(except: ids) else { throw .target }
    case .role(let id, let role):
      guard devices[id] != nil, role == .owner || hasOwner(except: [id]) else { throw .target }
    case .genesis, .operations, .checkpoint, .presence, .rejoin: break
    }
  }

  /// Whether the role of a device allows it to add another one.
  package func allows(adding record: DeviceRecord, by author: Identifier) -> Bool {
    devices[author].map { allows(.add(record), by: $0) } ?? false
  }

  private func hasOwner(except ids: [Identifier]) -> Bool {
    devices.values.contains { $0.role == .owner && !ids.contains($0.id) }
  }

  private func allows(_ payload: Payload, by author: DeviceRecord) -> Bool {
    switch payload {
    case .genesis: false
    case .presence, .rejoin: true
    case .operations: author.role <= .member
    case .role, .checkpoint: author.role == .owner
    case .add(let record): author.role == .owner || (author.role == .member && isOwn(record, author))
    // A device that is not there is a wrong target, of which any author learns.
    case .remove(let ids, _):
      author.role == .owner || (author.role == .member && ids.allSatisfy { devices[$0].map { isOwn($0, author) } ?? true })
    }
  }

  private func isOwn(_ record: DeviceRecord, _ author: DeviceRecord) -> Bool {
    record.person.order(author.person) == 0 && record.role >= author.role
  }

  mutating func apply(_ payload: Payload) {
    switch payload {
    case .genesis(_, let record), .add(let record): devices[record.id] = record
    case .remove(let ids, _):
      for id in ids { devices[id] = nil }
      removed.formUnion(ids)
    case .role(let id, let role): devices[id]?.role = role
    case .operations, .checkpoint, .presence, .rejoin: break
    }
  }

  mutating func follow(_ entry: [UInt8], _ number: UInt64) {
    (link, linkNumber) = (ObjectName(of: entry).digest, number)
  }
}

/// Keys of an epoch in the clear part of an entry. Section 3 of docs/sync-format.md.
enum SealedKeys {
  private static let prefixByteCount = 8
  static let byteCount = prefixByteCount + 32 + PublicKeyBox.sealOverhead
  /// BOX of 32 bytes.
  static let backByteCount = 168

  static func seal(_ key: LockedBytes, for devices: [DeviceRecord]) throws -> [UInt8] {
    try devices.flatMap { device in
      // A record with a key that one cannot seal for is void.
      guard let box = PublicKeyBox.seal(key.secret, for: device.boxKey) else { throw VoidCause.form }
      return device.id.bytes.prefix(prefixByteCount) + box
    }
  }

  /// Whether the bytes are keys for these devices, as far as others can see.
  static func areFor(_ devices: [DeviceRecord], _ bytes: ArraySlice<UInt8>, byteCount: Int = byteCount) -> Bool {
    guard bytes.count == devices.count * byteCount else { return false }
    return devices.enumerated().allSatisfy { index, device in
      let start = bytes.startIndex + index * byteCount
      return Array(bytes[start..<start + prefixByteCount]) == Array(device.id.bytes.prefix(prefixByteCount))
    }
  }

  /// The key for the device at an index.
  static func open(_ index: Int, _ bytes: ArraySlice<UInt8>, _ identity: DeviceIdentity) throws -> LockedBytes? {
    let start = bytes.startIndex + index * byteCount + prefixByteCount
    let box = Array(bytes[start..<start + byteCount - prefixByteCount])
    guard let key = try identity.box.openSealed(box) else { return nil }
    return LockedBytes(key)
  }

  // MARK: The key that a removal begins

  /// The prefix and the box of one device.
  private static let nextByteCount = prefixByteCount + 32 + PublicKeyBox.boxOverhead

  /// The boxes are from a pair that the key itself gives: each device that has the key sees whether all have it.
  private static func sender(_ next: LockedBytes, _ space: Identifier) throws -> PublicKeyBox.KeyPair {
    var context = Context("sync-sender")
    context.append(space)
    guard let key = try next.key() else { throw VoidCause.seal }
    return try PublicKeyBox.KeyPair(seed: key.derive(context).secret)
  }

  static func sealNext(_ next: LockedBytes, for devices: [DeviceRecord], _ space: Identifier) throws -> [UInt8] {
    let sender = try sender(next, space)
    return try devices.reduce(into: sender.publicKey) { bytes, device in
      guard let box = sender.seal(next.secret, to: device.boxKey) else { throw VoidCause.form }
      bytes += device.id.bytes.prefix(prefixByteCount) + box
    }
  }

  static func areNext(for devices: [DeviceRecord], _ bytes: ArraySlice<UInt8>) -> Bool {
    areFor(devices, bytes.dropFirst(PublicKeyBox.publicKeyByteCount), byteCount: nextByteCount)
  }

  private static func nextBox(_ index: Int, _ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let start = bytes.startIndex + PublicKeyBox.publicKeyByteCount + index * nextByteCount
    return Array(bytes[start + prefixByteCount..<start + nextByteCount])
  }

  /// The key for the device at an index.
  static func openNext(_ index: Int, _ bytes: ArraySlice<UInt8>, _ identity: DeviceIdentity) throws -> LockedBytes? {
    let sender = Array(bytes.prefix(PublicKeyBox.publicKeyByteCount))
    guard let key = try identity.box.open(nextBox(index, bytes), from: sender) else { return nil }
    return LockedBytes(key)
  }

  /// Whether each device gets this key.
  static func all(_ devices: [DeviceRecord], get next: LockedBytes, from bytes: ArraySlice<UInt8>, _ space: Identifier) throws
    -> Bool
  {
    let sender = try sender(next, space)
    guard bytes.starts(with: sender.publicKey) else { return false }
    for (index, device) in devices.enumerated() {
      // A box opens on both of its sides.
      guard let key = try sender.open(nextBox(index, bytes), from: device.boxKey), key.isEqual(to: next.secret) else {
        return false
      }
    }
    return true
  }

  private static func backKey(_ key: LockedBytes, _ space: Identifier) throws -> Key {
    var context = Context("sync-back")
    context.append(space)
    guard let key = try key.key() else { throw VoidCause.seal }
    return try key.derive(context)
  }

  static func sealBack(_ former: LockedBytes, under key: LockedBytes, _ space: Identifier) throws -> [UInt8] {
    try SecretBox.seal(former.secret, key: backKey(key, space))
  }

  /// The former key; nil if the box does not open under this key.
  static func openBack(_ box: [UInt8], under key: LockedBytes, _ space: Identifier) throws -> LockedBytes? {
    try LockedBytes.open(box, under: backKey(key, space))
  }
}
