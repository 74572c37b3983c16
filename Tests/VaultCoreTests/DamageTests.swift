import CofferTesting
import Testing
import VaultUpkeep

@testable import SecretMemory
@testable import VaultCore

/// A vault with damaged records: the parts that still work.
@Suite struct DamageTests {
  typealias Scene = TamperTests.Scene

  struct Fault: Sendable, CustomTestStringConvertible {
    let name: String
    let code: VaultError.Code
    let change: @Sendable (Scene) -> Void
    var testDescription: String { name }
  }

  static let faults: [Fault] = [
    Fault(name: "row gone", code: .recordMissing) { $0.store.records[$0.bob.id] = nil },
    Fault(name: "row replayed", code: .recordForged) { $0.store.records[$0.bob.id] = $0.past.records[$0.bob.id] },
    Fault(name: "attributes", code: .recordForged) { $0.edit($0.bob.id) { $0.attributes[30] ^= 1 } },
    Fault(name: "digest of the secret", code: .recordForged) { $0.edit($0.bob.id) { $0.digest[30] ^= 1 } },
    Fault(name: "header", code: .recordForged) { $0.edit($0.bob.id) { $0.meta[0] = 9 } },
    Fault(name: "a group's place", code: .recordForged) { $0.edit($0.bob.id) { $0.group = .zero } },
  ]

  @Test(arguments: faults) func othersAreListed(_ fault: Fault) throws {
    let scene = try Scene()
    fault.change(scene)
    let vault = try Vault.openThrowAway(scene.store)
    var damaged: [VaultError] = []
    let found = try vault.entries(damaged: { damaged.append($0) })
    #expect(damaged.map(\.code) == [fault.code])
    #expect(damaged.allSatisfy { $0.detail.contains("\(scene.bob.id)") })
    #expect(Set(found.entries.map(\.reference)) == [scene.alice, scene.team])
    #expect(code { _ = try vault.entries() } == fault.code)
    var inGroup = 0
    #expect(try vault.entries(in: .standard, damaged: { _ in inGroup += 1 }).entries.map(\.reference) == [scene.alice])
    #expect(inGroup == 1)
  }

  @Test(arguments: faults) func damagedItemIsRemovedByItsName(_ fault: Fault) throws {
    let scene = try Scene()
    fault.change(scene)
    var vault = try Vault.openThrowAway(scene.store)
    #expect(code { try vault.remove(scene.bob) } == fault.code)
    try vault.remove(Item(service: "github", account: "bob"))
    #expect(scene.store.records[scene.bob.id] == nil)
    // The former version of an item that did not open has no owner left.
    #expect(try vault.purgeExpired(at: .test) == 1)
    #expect(try vault.verify().isSound)
    #expect(try vault.entries().entries.count == 2)
    #expect(code { try vault.remove(Item(service: "github", account: "bob")) } == .notFound)
    #expect(code { try vault.remove(Item(service: "github", account: "alice"), in: AccessGroup("none")) } == .groupNotFound)
  }

  /// Proven records that no genuine writer makes: the seal of another item under a leaf of its own.
  @Test func brokenSealIsOneRecordsFault() throws {
    let scene = try Scene()
    var vault = try Vault.openThrowAway(scene.store)
    try vault.transaction { transaction in
      guard let bob = scene.store.records[scene.bob.id] else { return }
      var parts = TamperTests.SealedRecordParts(bob)
      parts.attributes[40] ^= 1
      try transaction.edit(scene.bob.id, parts.record(scene.bob.id))
    }
    var damaged: [VaultError] = []
    let found = try vault.entries(damaged: { damaged.append($0) })
    #expect(damaged.map(\.code) == [.sealBroken])
    #expect(damaged.first?.detail == "\(scene.bob.id)")
    #expect(found.entries.count == 2)
    try vault.remove(Item(service: "github", account: "bob"))
    #expect(try vault.purgeExpired(at: .test) == 1)
    #expect(try vault.verify().isSound)
  }

  @Test func damagedGroupHidesItsOwnItemsAlone() throws {
    let scene = try Scene()
    let group = try #require(scene.store.records.values.first { $0.meta[0] == 2 && isTeam($0, scene) })
    scene.edit(group.id) { $0.secret[30] ^= 1 }
    let vault = try Vault.openThrowAway(scene.store)
    var codes: Set<String> = []
    let found = try vault.entries(damaged: { codes.insert($0.code.name) })
    #expect(codes == ["recordForged", "unknownGroup"])
    #expect(Set(found.entries.map(\.reference)) == [scene.alice, scene.bob])
  }

  private func isTeam(_ record: SealedRecord, _ scene: Scene) -> Bool {
    guard let vault = try? Vault.openThrowAway(scene.store) else { return false }
    return (try? vault.keys.groupRecordID(AccessGroup("team"))) == record.id
  }

  @Test func faultsOfTheTreeStillStopTheWalk() throws {
    let scene = try Scene()
    let vault = try Vault.openThrowAway(scene.store)
    for prefix in scene.store.nodes.keys { scene.store.nodes[prefix]?[20] ^= 1 }
    var damaged = 0
    #expect(code { _ = try vault.entries(damaged: { _ in damaged += 1 }) } == .nodeForged)
    #expect(damaged == 0)
  }
}
