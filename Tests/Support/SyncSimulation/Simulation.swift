import CofferTesting
import SecretMemory
import VaultCore

@testable import CofferSync

/// One schedule of two to eight devices and an engine that lies. The seed decides everything that the result depends on.
package struct Simulation {
  /// A promise that did not hold.
  enum Fault: String, Error, Hashable {
    case lost, resurrected, acceptedAfterRemoval, notConverged, stillPending, itemLost, quotaWrong
  }

  /// A change that a person has made and that the vault holds.
  struct Change {
    let key: EntityKey
    let author: Int
    let dot: Identifier
    let value: String?
    /// The values that the person saw then, and the writes of life.
    let seen: Set<String>
    let seenLives: Set<Identifier>
    let isDeletion: Bool
  }

  var random: SeededGenerator
  let engine: FaultyEngine
  let flaw: Flaw?
  let space: Identifier
  var devices: [SimulatedDevice] = []
  var changes: [Change] = []
  /// Operations that a device had folded in a history that it has left.
  var folded: [(device: Int, dot: Identifier)] = []
  /// Changes of before the last but one checkpoint of a history that their author has left: of these, the live values are written anew.
  var forgotten: Set<Identifier> = []
  var coverage = Coverage()
  private var records: [DeviceRecord] = []
  private var clock: Int64 = 0
  private var nextValue = 0

  init(seed: UInt64, flaw: Flaw?) throws {
    random = SeededGenerator(seed: seed)
    self.flaw = flaw
    engine = FaultyEngine(SeededGenerator(seed: seed ^ 0x5EED))
    let founder = try Self.identity(0)
    let random32 = [UInt8](repeating: UInt8(truncatingIfNeeded: seed), count: 32)
    var first = try Replica(founding: founder, random: random32, ValueKey())
    space = first.space
    try first.pending.append(Self.nearlyFull(of: first))
    try first.synchronise(with: engine) { _ in }
    let count = Int.random(in: 2...8, using: &random)
    let identities = try (1..<count).map { try Self.identity($0) }
    for (index, identity) in identities.enumerated() {
      first.add(identity.record(index == 0 || Int.random(in: 0..<4, using: &random) == 0 ? .owner : .member))
    }
    try first.synchronise(with: engine) { _ in }
    devices = [SimulatedDevice(0, first, flaw: flaw)]
    for (index, identity) in identities.enumerated() {
      guard let welcome = Welcome(first) else { continue }
      devices.append(
        SimulatedDevice(index + 1, try Replica(joining: identity, welcome, engine, ValueKey()), flaw: flaw))
    }
    records = devices.map { $0.replica.membership[$0.replica.id] }.compactMap { $0 }
    for device in devices { device.removedRecords = records }
  }

  /// Those that a schedule may have, and one that comes late. They are the same in all schedules.
  private static let identities = Result { try (0...8).map(makeIdentity) }

  static func identity(_ index: Int) throws -> DeviceIdentity { try identities.get()[index] }

  private static func makeIdentity(_ index: Int) throws -> DeviceIdentity {
    let seed = { (byte: UInt8) in try Secret(testing: [UInt8](repeating: byte, count: 31) + [UInt8(index)]) }
    return try DeviceIdentity(signingSeed: seed(1), boxSeed: seed(2), person: index % 3 == 1 ? "ada" : "bob", name: "\(index)")
  }

  /// A setting that leaves few bytes of the store. The fold never reads its object, which is nowhere.
  private static func nearlyFull(of device: Replica) throws -> PendingOperation {
    let name = try SettingName(store: store, key: "full")
    let value = Value.object(ObjectName(of: []), count: SettingsQuota.maximumByteCount - 600, of: name)
    let parts = [(Register.content, value), (.life, CofferSync.Operation.alive)].map { register, value in
      CofferSync.Operation.Part(register: register, replaced: [], value: value)
    }
    return PendingOperation(
      operation: try CofferSync.Operation(.setting, author: device.id, tag: name.tag, modified: 0, parts: parts, device.values))
  }

  static let store = "store"

  /// - Throws: `Fault`.
  package static func run(seed: UInt64) throws -> Coverage { try run(seed: seed, flaw: nil) { _ in } }

  /// - Parameter inspect: Sees the devices before the engine becomes honest.
  /// - Throws: `Fault`.
  static func run(
    seed: UInt64, flaw: Flaw? = nil, inspect: ([SimulatedDevice]) throws -> Void = { _ in }
  ) throws -> Coverage {
    var simulation = try Simulation(seed: seed, flaw: flaw)
    simulation.engine.isHonest = false
    for _ in 0..<Int.random(in: 8...28, using: &simulation.random) { try simulation.step() }
    try inspect(simulation.devices)
    simulation.engine.becomeHonest()
    let hasSettled = try simulation.settle()
    try simulation.check(hasSettled: hasSettled)
    if flaw == nil { try simulation.checkLateDevice() }
    simulation.cover()
    return simulation.coverage
  }

  private mutating func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  mutating func step() throws {
    let device = devices[number(below: devices.count)]
    switch number(below: 28) {
    case 0...6: try change(device)
    case 7...13:
      engine.callsUntilCrash = number(below: 6) == 0 ? number(below: 8) : 10_000
      if try !device.synchronise(engine), number(below: 2) == 0 { try accept(device) }
    case 14: engine.fork(devices.count)
    case 15: engine.swap(device.index)
    case 16: engine.lag(device.index)
    case 17: engine.restore()
    case 18: engine.addGarbage()
    case 19, 24, 25: try forge()
    case 20:
      let target = devices[number(below: devices.count)].replica.id
      if number(below: 2) == 0 { try device.change { $0.remove([target]) } }
    case 21:
      let (target, role) = (devices[number(below: devices.count)].replica.id, Role.allCases[number(below: 2)])
      try device.change { $0.setRole(target, role) }
    case 22, 26: try device.appendCheckpoint(engine)
    case 27: if try !device.inspect(engine), number(below: 2) == 0 { try accept(device) }
    default: try device.crash()
    }
  }

  private mutating func change(_ device: SimulatedDevice) throws {
    guard device.replica.isMember else { return }
    let name = "item\(number(below: 3))"
    // Clocks may be twenty years off.
    clock += 1
    let modified = clock + (number(below: 4) == 0 ? Int64(number(below: 2) * 2 - 1) * 631_152_000_000 : 0)
    nextValue += 1
    let isSetting = number(below: 4) == 0
    let value = "v\(nextValue)" + (isSetting ? String(repeating: "x", count: number(below: 400)) : "")
    // It may lie in an object.
    let text = value + String(repeating: " ", count: number(below: 12) == 0 ? Value.maximumInlineCount : 0)
    var attributes = Attributes()
    attributes["account"] = .text(name)
    attributes["label"] = .text(value)
    let content = try ItemContent(Item(.genericPassword, attributes), in: .standard, accessibility: .whenUnlocked)
    let setting = try SettingContent(store: Self.store, key: name, value: [6] + Array(value.utf8))
    let key = isSetting ? EntityKey(.setting, setting.name.tag) : EntityKey(.item, content.tag)
    let seen = device.replica.shown(key)
    let isDeletion = number(below: 5) == 0 && seen?.exists == true
    let values = try seen.map { try self.values($0, key.kind, device.replica) } ?? []
    // A secret alone, or all parts.
    let isEdit = seen?.exists == true && number(below: 2) == 0
    try device.change { replica in
      if isDeletion {
        try replica.delete([key], ofGroupWith: 3, at: modified)
      } else if isSetting {
        try replica.write(setting, at: modified)
      } else {
        try replica.write(
          key.tag, content: isEdit ? nil : content, secret: LockedBytes(Secret(testing: text)), at: modified)
      }
    }
    guard let operation = device.replica.pending.last?.operation else { return }
    changes.append(
      Change(
        key: key, author: device.index, dot: operation.dot, value: isDeletion ? nil : value, seen: isDeletion ? [] : values,
        seenLives: Set(seen?[.life].map(\.dot) ?? []), isDeletion: isDeletion))
  }

  /// The values that a person sees: the secrets of an item, or the values of a setting.
  func values(_ entity: Entity, _ kind: Kind, _ device: Replica) throws -> Set<String> {
    Set(try entity[kind.valueRegister].map { try text($0.value, device) })
  }

  func text(_ value: Value, _ device: Replica) throws -> String {
    switch value {
    case .clear(let bytes): String(decoding: try SettingContent(parsing: bytes).value.dropFirst(), as: UTF8.self)
    case .secret(let secret): String(decoding: try device.values.open(secret).copyIntoUnprotectedBytes(), as: UTF8.self)
    case .object(let name, let count, _):
      String(
        decoding: try device.resolve(name, count: count) { engine.objects[$0] ?? device.uploads[$0] }.secret
          .copyIntoUnprotectedBytes().prefix { $0 != 0x20 }, as: UTF8.self)
    }
  }

  /// A device that was removed writes on, with the key that a member has given away.
  private mutating func forge() throws {
    let leak = devices[number(below: devices.count)].replica
    guard let key = leak.keys[leak.epoch],
      let device = devices.filter({ leak.membership.removed.contains($0.identity.id) }).randomElement(using: &random)
    else { return }
    let part = CofferSync.Operation.Part(register: .life, replaced: [], value: CofferSync.Operation.alive)
    let tag = Identifier([UInt8](repeating: 0xEE, count: 16)) ?? .zero
    let operation = try CofferSync.Operation(
      .item, author: device.identity.id, tag: tag, modified: clock, parts: [part], leak.values)
    let entry = try SealedEntry.seal(
      Body(link: nil, .operations([operation])), clear: [], position: leak.position, key: key, author: device.identity,
      leak.values)
    coverage[.forgery] += 1
    engine.help(device.index, entry, after: leak.count)
  }

  private mutating func accept(_ device: SimulatedDevice) throws {
    engine.callsUntilCrash = number(below: 8) == 0 ? number(below: 8) : 10_000
    let former = device.replica
    guard let operations = try device.acceptHistory(engine) else { return }
    coverage[.accepted] += 1
    folded += operations.map { (device.index, $0.dot) }
    guard former.checkpoints.count == 2 else { return }
    let sent = Set(operations.map(\.dot)).union(former.pending.map(\.operation.dot))
    forgotten.formUnion(changes.filter { $0.author == device.index && !sent.contains($0.dot) }.map(\.dot))
  }

  /// Everyone reads until nothing changes, persons accept the one history, and owners confirm removals. Each device appends once, as it
  /// does within a week. If no device puts back the entries that another one lacks, its person accepts the log without them.
  private mutating func settle() throws -> Bool {
    for device in devices {
      try device.change { $0.wantsPresence = $0.isMember }
      try device.crash()
    }
    var last: [Digest] = []
    var isQuiet = false
    for _ in 0..<60 {
      for device in devices {
        if try !device.synchronise(engine) || !device.inspect(engine) || (isQuiet && device.lacksEntries) {
          // Its entry of this week was before.
          try device.change { $0.wantsPresence = false }
          try accept(device)
        }
        engine.callsUntilCrash = nil
        try confirmRemovals(device)
      }
      let now = devices.map(\.replica.chain)
      if now == last {
        guard !isQuiet, devices.contains(where: \.lacksEntries) else { return true }
        isQuiet = true
      } else {
        isQuiet = false
      }
      last = now
      if number(below: 3) == 0 { try forge() }
    }
    return false
  }

  private func confirmRemovals(_ device: SimulatedDevice) throws {
    let replica = device.replica
    guard replica.membership[replica.id]?.role == .owner else { return }
    let missing = Set(replica.leftHistories.flatMap(\.left.removed)).filter { replica.membership[$0] != nil && $0 != replica.id }
    if !missing.isEmpty, !replica.drafts.contains(where: { if case .remove = $0 { true } else { false } }) {
      try device.change { $0.remove(missing.sorted()) }
    }
  }
}

extension Kind {
  /// The register whose value a person sees.
  var valueRegister: Register { self == .item ? .secret : .content }
}
