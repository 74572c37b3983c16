import CofferTesting
import Glibc
import Testing
import VaultUpkeep

@testable import SecretMemory
@testable import VaultCore

/// Every record is looked at, and each problem reported; what is no fault of a record is none of its problems.
@Suite struct VerificationTests {
  typealias Scene = TamperTests.Scene

  private func groupRecord(_ name: String, _ vault: borrowing Vault) throws -> Identifier {
    try vault.keys.groupRecordID(AccessGroup(name))
  }

  /// A record that proves, and does not open.
  private func breakSeal(_ id: Identifier, _ scene: Scene, _ vault: inout Vault) throws {
    var parts = TamperTests.SealedRecordParts(try #require(scene.store.records[id]))
    parts.attributes[40] ^= 1
    try vault.transaction { try $0.edit(id, parts.record(id)) }
  }

  @Test func aMalformedGroupHidesNoOtherFault() throws {
    let scene = try Scene()
    var vault = try Vault.openThrowAway(scene.store)
    let group = try groupRecord("team", vault)
    try breakSeal(group, scene, &vault)
    scene.edit(scene.bob.id) { $0.attributes[50] ^= 1 }
    let found = try vault.verify()
    let codes: [Identifier: VaultError.Code] = [
      group: .sealBroken, scene.team.id: .unknownGroup, scene.bob.id: .recordForged,
    ]
    #expect(found.problemCount == 3 && found.recordCount == 6)
    for (id, code) in codes {
      #expect(found.problems.contains { $0.code == code && $0.detail.hasPrefix("\(id)") }, "\(code.name)")
    }
  }

  @Test func aListReportsADamagedGroupThatHasNoItems() throws {
    let scene = try Scene()
    var vault = try Vault.openThrowAway(scene.store)
    try vault.createGroup(AccessGroup("empty"), at: .test)
    try breakSeal(groupRecord("empty", vault), scene, &vault)
    var damaged: [VaultError] = []
    let found = try vault.entries(damaged: { damaged.append($0) })
    #expect(damaged.map(\.code) == [.sealBroken])
    #expect(Set(found.entries.map(\.reference)) == [scene.alice, scene.bob, scene.team])
    #expect(code { _ = try vault.entries() } == .sealBroken)
  }

  /// A group record whose holder of the key has given it the identifier and the keys of another group.
  @Test func twoGroupsWithOneIdentifierAreReported() throws {
    let scene = try Scene()
    var vault = try Vault.openThrowAway(scene.store)
    let twin = try vault.reading { state, keyring in
      let group = try #require(try keyring.group(.standard, in: state))
      var attributes = Attributes()
      attributes["name"] = .text("twin")
      attributes["created"] = .time(.test)
      return try GroupKeys.decode(
        attributes: TLV.encode(attributes), secret: group.encodeSecret(), version: state.header.generation + 1)
    }
    try vault.transaction { try $0.edit($0.keys.groupRecordID(twin.group), $0.keys.seal(twin, masterEpoch: 1)) }
    #expect(try vault.verify().problems.map(\.code) == [.groupMalformed])
    #expect(code { _ = try vault.entries() } == .groupMalformed)
    var damaged: [VaultError.Code] = []
    #expect(try vault.entries(damaged: { damaged.append($0.code) }).entries.count == 3)
    #expect(damaged == [.groupMalformed])
  }

  /// The number of records is compared also if something else is wrong.
  @Test func aWrongCountIsReportedBesideOtherFaults() throws {
    let scene = try Scene()
    do {
      let vault = try Vault.openThrowAway(scene.store)
      var header = try SealedHeader(parsing: try #require(scene.store.header[0])).header
      header.recordCount = 17
      scene.store.header[0] = header.sealed(with: vault.keys.integrity).bytes
    }
    let vault = try Vault.openThrowAway(scene.store)
    scene.edit(scene.bob.id) { $0.attributes[50] ^= 1 }
    #expect(Set(try vault.verify().problems.map(\.code.name)) == ["countMismatch", "recordForged"])
  }

  // MARK: Errors that are not faults of a record

  @Test func anErrorOfTheMachineIsNoDamage() throws {
    let scene = try Scene()
    let vault = try Vault.openThrowAway(scene.store)
    let team = try groupRecord("team", vault)
    scene.store.secretError = (team, VaultError(.outOfMemory))
    var damaged = 0
    #expect(code { _ = try vault.entries(damaged: { _ in damaged += 1 }) } == .outOfMemory)
    #expect(damaged == 0)
    #expect(code { _ = try vault.verify() } == .outOfMemory)
    #expect(code { try vault.reading { state, _ in _ = try KeptWhileLocked(state) } } == .outOfMemory)
    scene.store.secretError = (team, VaultError(.recordMissing))
    try vault.reading { state, _ in _ = try KeptWhileLocked(state) }
    _ = try vault.entries(damaged: { _ in damaged += 1 })
    #expect(damaged == 2, "the group, and the item in it")
    #expect(try !vault.verify().isSound)
  }

  /// In a process of its own, which may lock no more memory: an item that needs a slab of its own then does not open.
  @Test(.enabled(if: SecretTests.locksForReal, "the address sanitizer locks nothing"))
  func anItemIsNotDamagedBecauseMemoryCannotBeLocked() async {
    await #expect(processExitsWith: .success) {
      var vault = try Vault.throwAway()
      var item = Item(service: "s", account: "long")
      item.attributes["user.text"] = .text(String(repeating: "x", count: 20_000))
      try vault.add(item, secret: Secret(count: 0), at: .test)
      guard try vault.entries(damaged: { _ in exit(1) }).entries.count == 1 else { exit(2) }
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      guard unsafe setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &none) == 0 else { exit(3) }
      // The superuser may lock without limit.
      guard geteuid() != 0 || setuid(65_534) == 0 else { exit(4) }
      guard code({ _ = try vault.entries(damaged: { _ in exit(5) }) }) == .memoryNotLockable else { exit(6) }
    }
  }

  // MARK: Limits of writers

  @Test(arguments: [("a\nb", VaultError.Code.nameNotAllowed), (String(repeating: "x", count: 1200), .nameTooLong)])
  func itemsBeyondTheLimitsOfWritersAreReportedAndRemoved(service: String, expected: VaultError.Code) throws {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store)
    try vault.add(Item(service: "s", account: "a"), secret: Secret(count: 0), at: .test)
    let item = Item(service: service, account: "a")
    #expect(code { try vault.add(item, secret: Secret(count: 0), at: .test) } == expected)
    let keys = try vault.reading { state, keyring in try #require(try keyring.group(.standard, in: state)) }
    let id = keys.itemID(item)
    try vault.transaction { transaction in
      let meta = RecordMeta(kind: .item, accessibility: .whenUnlocked, epoch: 1, version: transaction.generation)
      let record = try RecordSeal(vault: transaction.keys.vault, id: id, group: keys.groupID, meta: meta).seal(
        attributes: item.encoded, secret: Secret(testing: "x"), with: keys.key(.whenUnlocked, epoch: 1, keys: transaction.keys))
      try transaction.edit(id, record)
    }
    // Readers open what is there.
    #expect(try vault.entries().entries.count == 2)
    #expect(try bytes(of: Reference(group: .standard, id: id), in: vault) == Array("x".utf8))
    let found = try vault.verify()
    #expect(found.problems.map(\.code) == [expected])
    #expect(found.problems.first?.detail.hasPrefix("\(id)") == true)
    try vault.remove(id)
    #expect(try vault.verify().problems == [] && vault.entries().entries.count == 1)
  }

  // MARK: By identifier

  @Test(arguments: DamageTests.faults) func aDamagedItemIsRemovedByItsIdentifier(_ fault: DamageTests.Fault) throws {
    let scene = try Scene()
    fault.change(scene)
    var vault = try Vault.openThrowAway(scene.store)
    try vault.remove(scene.bob.id)
    #expect(try vault.purgeExpired(at: .test) == 1)
    #expect(try vault.verify().isSound && vault.entries().entries.count == 2)
    #expect(code { try vault.remove(scene.bob.id) } == .notFound)
  }

  @Test func onlyItemsAreRemovedByTheirIdentifier() throws {
    let scene = try Scene()
    var vault = try Vault.openThrowAway(scene.store)
    let group = try groupRecord("team", vault)
    #expect(code { try vault.remove(group) } == .notFound)
    vault.lock()
    #expect(code { try vault.remove(scene.bob.id) } == .locked)
    #expect(scene.store.records[group] != nil && scene.store.records[scene.bob.id] != nil)
  }
}
