import CofferRequests
import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore
import VaultUpkeep

@testable import Coffer
@testable import CofferSync
@testable import VaultSync

/// The calls that a device makes, of its vault and of the engine: it crashes after so many of them.
final class CrashPoint: @unchecked Sendable {
  struct Crash: Error {}

  /// nil for never.
  var callsUntilCrash: Int?
  /// Carried out before the call with this number, counted from now.
  var interruption: (calls: Int, act: () -> Void)?
  private(set) var calls = 0
  /// The most items that were added by one request.
  var largest = 0
  /// The error of each request for a secret of this item.
  var refusal: (id: Identifier, error: KeychainError)?

  func step() throws {
    calls += 1
    if let interruption {
      self.interruption = interruption.calls > 0 ? (interruption.calls - 1, interruption.act) : nil
      if interruption.calls <= 0 { interruption.act() }
    }
    guard let left = callsUntilCrash else { return }
    callsUntilCrash = left - 1
    if left <= 0 { throw Crash() }
  }
}

/// An engine that is honest, in memory.
final class MemoryEngine: Engine, @unchecked Sendable {
  private let lock = NSRecursiveLock()
  var log: [[UInt8]] = []
  var objects: [ObjectName: [UInt8]] = [:]
  /// The numbers of the entries that were deleted.
  var deleted: Set<UInt64> = []
  var refusesDeletions = false
  /// No entry is appended.
  var isFull = false
  /// Whether this device gets them.
  var givesObjects = true
  let crash: CrashPoint

  init(_ crash: CrashPoint = CrashPoint(), sharing other: MemoryEngine? = nil) {
    self.crash = crash
    self.other = other
  }

  private let other: MemoryEngine?
  var shared: MemoryEngine { other ?? self }

  func append(_ number: UInt64, _ entry: [UInt8]) throws -> Appended {
    try crash.step()
    shared.lock.lock()
    defer { shared.lock.unlock() }
    guard !shared.isFull else { throw CrashPoint.Crash() }
    guard shared.log.count >= number, number == 0 || !shared.deleted.contains(number - 1) else { return .shorter }
    if shared.deleted.remove(number) != nil {
      shared.log[Int(number)] = entry
      return .made
    }
    guard shared.log.count == number else { return .taken }
    shared.log.append(entry)
    try crash.step()
    return .made
  }

  func read(from number: UInt64, limit: Int) throws -> [NumberedEntry] {
    try crash.step()
    shared.lock.lock()
    defer { shared.lock.unlock() }
    guard number < shared.log.count else { return [] }
    let entries = shared.log.enumerated().dropFirst(Int(number)).filter { !shared.deleted.contains(UInt64($0.offset)) }
    return entries.prefix(limit).map { NumberedEntry(UInt64($0.offset), $0.element) }
  }

  func put(_ name: ObjectName, _ object: [UInt8]) throws {
    try crash.step()
    shared.objects[name] = object
  }

  func get(_ name: ObjectName) throws -> [UInt8]? {
    try crash.step()
    guard givesObjects else { throw CrashPoint.Crash() }
    return shared.objects[name]
  }

  func names(after last: ObjectName?) throws -> [ObjectName] {
    try crash.step()
    guard givesObjects else { throw CrashPoint.Crash() }
    return Array(shared.objects.keys.filter { name in last.map { $0 < name } ?? true }.sorted().prefix(2))
  }

  func delete(_ names: [ObjectName]) throws {
    try crash.step()
    guard !shared.refusesDeletions else { throw CrashPoint.Crash() }
    for name in names { shared.objects[name] = nil }
  }

  func deleteEntries(_ ranges: [Range<UInt64>]) throws {
    try crash.step()
    for range in ranges { shared.deleted.formUnion(range.clamped(to: 0..<UInt64(shared.log.count))) }
  }
}

/// The requests of a vault, each of which may be the last one: before it is carried out, or after.
private struct CrashingTransport: KeychainTransport {
  let vault: InProcessTransport
  let crash: CrashPoint

  var isLocked: Bool { vault.isLocked }
  func lock() { vault.lock() }

  func answer(_ request: consuming ItemRequest) throws -> Answer {
    try crash.step()
    let answer: Answer
    switch consume request {
    case .secret(let reference, let purpose):
      if let refusal = crash.refusal, reference.id == refusal.id { throw refusal.error }
      answer = try vault.answer(.secret(reference, purpose: purpose))
    case .addAll(let new, let group, let accessibility):
      crash.largest = max(crash.largest, new.items.count)
      answer = try vault.answer(.addAll(new, group, accessibility))
    case let other: answer = try vault.answer(other)
    }
    try crash.step()
    return answer
  }

  func watch() -> any ChangeSource { vault.watch() }
}

/// One device: a vault, its files, and the engine as it reaches it.
final class Machine {
  static let group = AccessGroup(unchecked: "team")

  let crash = CrashPoint()
  private(set) var store = MemoryStore()
  private(set) var keychain: Keychain
  private(set) var person: Keychain
  let engine: MemoryEngine
  let directory: URL
  private let number: UInt8

  init(_ number: UInt8, _ shared: MemoryEngine) throws {
    self.number = number
    engine = MemoryEngine(crash, sharing: shared)
    directory = FileManager.default.temporaryDirectory.appending(path: "coffer-sync-\(UUID())")
    _ = try Vault.throwAway(in: store, deviceKey: Self.deviceKey(number))
    (keychain, person) = try Self.open(store, number, crash)
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  static func identity(_ number: UInt8) throws -> DeviceIdentity {
    func seed(_ byte: UInt8) throws -> Secret { try Secret(testing: [UInt8](repeating: byte, count: 31) + [number]) }
    return try DeviceIdentity(signingSeed: seed(3), boxSeed: seed(4), person: "ada", name: "device \(number)")
  }

  private static func deviceKey(_ number: UInt8) throws -> Secret {
    try Secret(testing: [UInt8](repeating: 0x40 + number, count: 32))
  }

  private static func open(_ store: MemoryStore, _ number: UInt8, _ crash: CrashPoint) throws -> (Keychain, Keychain) {
    let vault = try Vault.openThrowAway(store, deviceKey: deviceKey(number))
    let transport = try InProcessTransport(vault, as: .owner)
    return (Keychain(CrashingTransport(vault: transport, crash: crash)), Keychain(transport))
  }

  /// The vault as it is now, to be restored later.
  func backup() -> MemoryStore { store.copy() }

  func restore(_ backup: MemoryStore) throws {
    store = backup.copy()
    (keychain, person) = try Self.open(store, number, crash)
  }

  // MARK: The space

  /// The first device of a space.
  func found() throws {
    let values = try ValueKey()
    let space = try DeviceKeys.make(in: keychain, files: directory.path, person: "ada", name: "device \(number)") {
      identity in
      let replica = try Replica(founding: identity, random: [UInt8](repeating: number, count: 32), values)
      return try LocalState(replica, engine: "memory")
    }.keys.space
    #expect(try DeviceKeys.spaces(in: keychain) == [space])
    try share()
  }

  func join(_ member: Machine) throws {
    let values = try ValueKey()
    _ = try DeviceKeys.make(in: keychain, files: directory.path, person: "ada", name: "device \(number)") { identity in
      let session = try member.session()
      try session.add(identity.record(.member))
      _ = try session.synchronise(with: member.engine)
      let welcome = try #require(Welcome(session.state.replica))
      return try LocalState(Replica(joining: identity, welcome, engine, values), engine: "memory")
    }
    try share()
  }

  private func share() throws {
    let session = try session()
    try session.share(Self.group, others: [])
    _ = try session.synchronise(with: engine)
  }

  func session() throws -> SpaceSession { try SpaceSession(nil, in: keychain, files: directory.path) }

  @discardableResult
  func synchronise() throws -> SyncReport { try session().synchronise(with: engine) }

  /// Settles the first conflict with the value that is shown.
  func keep() throws {
    let session = try session()
    try session.keep(session.conflicts()[0]) { _ in nil }
  }

  // MARK: A person

  func set(_ account: String, _ secret: String, label: String? = nil, in group: AccessGroup = group) throws {
    if let entry = try entry(account, in: group) {
      try person.update(entry.reference, secret: Secret(testing: secret)) { $0.label = label ?? $0.label }
    } else {
      var item = Item(service: "service", account: account)
      item.label = label
      try person.add(item, secret: Secret(testing: secret), group: group)
    }
  }

  func remove(_ account: String) throws { if let entry = try entry(account) { try person.remove(entry.reference) } }

  func rename(_ account: String, to other: String) throws {
    guard let entry = try entry(account), try self.entry(other) == nil else { return }
    try person.update(entry.reference) { $0["account"] = other }
  }

  /// The vault is locked before a call, and opened again afterwards.
  func synchronise(lockingBeforeCall calls: Int) throws {
    let person = person
    do {
      let session = try session()
      crash.interruption = (calls, { try? person.lock() })
      _ = try? session.synchronise(with: engine)
      crash.interruption = nil
    }
    try unlock()
  }

  /// The attributes of an item do not open any more.
  func damage(_ account: String) throws {
    guard let id = try entry(account)?.reference.id, let record = store.records[id] else { return }
    let head = record.head
    store.records[id] = SealedRecord(
      id: id, group: head.group, meta: head.meta, attributes: [head.attributes[0] ^ 1] + head.attributes.dropFirst(),
      secret: record.secret)
    try unlock()
  }

  private func unlock() throws { (keychain, person) = try Self.open(store, number, crash) }

  func renameGroup(to new: AccessGroup) throws {
    var vault = try Vault.openThrowAway(store, deviceKey: Self.deviceKey(number))
    try vault.transaction { try $0.renameGroup(Self.group, to: new) }
    try unlock()
  }

  func entry(_ account: String, in group: AccessGroup = group) throws -> Entry? {
    guard try person.contains(group) else { return nil }
    return try person.items(KeychainQuery(service: "service", account: account, group: group)).first
  }

  /// Secret and label of each item of the shared group.
  func values() throws -> [String: String] {
    guard try person.contains(Self.group) else { return [:] }
    return Dictionary(
      uniqueKeysWithValues: try person.items(KeychainQuery(group: Self.group)).map { entry in
        (entry.item["account"] ?? "", "\(try Self.text(person.secret(of: entry.reference))) \(entry.item.label ?? "")")
      })
  }

  /// The secrets of all versions of an item, also of a removed one.
  func versions(_ account: String) throws -> Set<String> {
    var references = try entry(account).map { [$0.reference] } ?? []
    references += try person.removedItems(in: Self.group).filter { $0.item["account"] == account }.map(\.reference)
    return Set(
      try references.flatMap { reference in
        try person.history(of: reference).map { try Self.text(person.secret(of: reference, version: $0.number)) }
      })
  }

  func versionCount(_ account: String) throws -> Int {
    try entry(account).map { try person.history(of: $0.reference).count } ?? 0
  }

  private static func text(_ secret: borrowing Secret) -> String {
    String(decoding: secret.copyIntoUnprotectedBytes(), as: UTF8.self)
  }
}
