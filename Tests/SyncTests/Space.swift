import CofferTesting
import SecretMemory
import VaultCore

@testable import CofferSync
@testable import SyncSimulation

/// Devices of one space, on an engine that is honest.
struct Space {
  let engine = FaultyEngine(SeededGenerator(seed: 1))
  var owner: Replica

  static func identity(_ number: UInt8, person: String = "ada") throws -> DeviceIdentity {
    func seed(_ byte: UInt8) throws -> Secret { try Secret(testing: [UInt8](repeating: byte, count: 31) + [number]) }
    return try DeviceIdentity(signingSeed: seed(3), boxSeed: seed(4), person: person, name: "device \(number)")
  }

  init() throws {
    owner = try Replica(founding: Self.identity(0), random: [UInt8](repeating: 9, count: 32), ValueKey())
    try owner.synchronise(with: engine) { _ in }
  }

  /// A new device with a role.
  mutating func join(_ number: UInt8, _ role: Role, person: String = "ada") throws -> Replica {
    let identity = try Self.identity(number, person: person)
    owner.add(identity.record(role))
    try synchronise(&owner)
    guard let welcome = Welcome(owner) else { throw Halt.keyMissing }
    return try Replica(joining: identity, welcome, engine, ValueKey())
  }

  func synchronise(_ replica: inout Replica) throws {
    var next = replica
    defer { replica = next }
    try next.synchronise(with: engine) { _ in }
  }

  /// Those in front of the last but one checkpoint.
  var deletableEntries: [Range<UInt64>] { owner.deletableEntries(before: owner.checkpoints[0].number) }

  /// The owner makes checkpoints, and deletes what lies in front of them.
  mutating func passMonth() throws {
    for number in 0..<3 {
      try Self.write("\(owner.count) \(number)", "y", in: &owner)
      try synchronise(&owner)
      guard try appendCheckpoint() else { throw Halt.entriesMissing }
    }
    try engine.deleteEntries(deletableEntries)
  }

  mutating func appendCheckpoint() throws -> Bool { try owner.appendCheckpoint(to: engine) { _ in } }

  static func content(_ account: String, label: String = "", group: AccessGroup = .standard) throws -> ItemContent {
    var item = Item(service: "service", account: account)
    item.label = label
    return try ItemContent(item, in: group, accessibility: .whenUnlocked)
  }

  /// Writes an item, and returns its name.
  @discardableResult
  static func write(_ account: String, _ secret: String, at time: Int64 = 1, in replica: inout Replica) throws -> EntityKey {
    let content = try content(account)
    try replica.write(content.tag, content: content, secret: LockedBytes(Secret(testing: secret)), at: time)
    return EntityKey(.item, content.tag)
  }

  static func change(_ key: EntityKey, _ secret: String, at time: Int64 = 1, in replica: inout Replica) throws {
    try replica.write(key.tag, content: nil, secret: LockedBytes(Secret(testing: secret)), at: time)
  }

  /// The shown secret and the others, or nil if the item does not exist.
  static func secrets(_ key: EntityKey, in replica: Replica) throws -> [String]? {
    guard let entity = replica.shown(key), entity.exists else { return nil }
    return try entity[.secret].map { write in
      guard case .secret(let sealed) = write.value else { return "object" }
      return String(decoding: try replica.values.open(sealed).copyIntoUnprotectedBytes(), as: UTF8.self)
    }
  }
}
