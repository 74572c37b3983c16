import CofferTesting
import Testing

@testable import AccessRights
@testable import SecretMemory
@testable import VaultCore

/// Lists are built from proven branches of the tree, without reading secrets.
@Suite struct ListTests {
  /// A vault with an app, a grant, a group and three items.
  struct Scene: ~Copyable {
    let store: MemoryStore
    let vault: Vault
    let app: SignedManifest
    var name: String { app.manifest.applicationIdentifier }
    let team: AccessGroup

    init() throws {
      let (store, team) = (MemoryStore(), try AccessGroup("team"))
      let app = try SampleApp(1).signed(try SampleApp(1).manifest())
      var vault = try Vault.throwAway(in: store)
      try vault.createGroup(team, at: .test)
      try vault.transaction { transaction in
        _ = try transaction.install(app, at: .test)
        try transaction.put(Grant(to: app.manifest.applicationIdentifier, team, .read, at: .test))
      }
      for account in ["a", "b", "c"] {
        try vault.add(Item(service: "s", account: account), secret: Secret(testing: account), at: .test)
      }
      (self.store, self.app, self.team) = (store, app, team)
      self.vault = vault
    }

    /// The result of each list; nil if it is refused.
    func answers() -> [String?] {
      [
        try? vault.groups().map(\.name).joined(), try? "\(vault.pins())", try? "\(vault.grants())",
        try? "\(vault.grants(to: name))", try? "\(vault.pin(name) as Any)", try? "\(vault.entries().entries)",
        try? "\(vault.entries(in: .standard).entries)",
      ]
    }
  }

  @Test func listsReadNoSecretOfAnItem() throws {
    let scene = try Scene()
    scene.store.secretReads = []
    #expect(try scene.vault.entries().entries.count == 3)
    #expect(try scene.vault.entries(in: .standard, where: { $0.item["account"] == "b" }).entries.count == 1)
    #expect(try scene.vault.entry(Item(service: "s", account: "a")) != nil)
    #expect(scene.store.secretReads.allSatisfy { scene.store.records[$0]?.group == .zero })
    // The control: what gives a secret away reads that one.
    scene.store.secretReads = []
    let id = try scene.vault.entry(Item(service: "s", account: "a"))?.reference.id
    _ = try scene.vault.entryWithSecret(Item(service: "s", account: "a"))
    #expect(scene.store.secretReads.map(Optional.some) == [id])
  }

  /// A row that is not there is a fault of each list that it belongs to, and of no other.
  @Test func noListLeavesARowOut() throws {
    let scene = try Scene()
    let honest = scene.answers()
    #expect(!honest.contains(nil))
    for (id, record) in scene.store.records {
      scene.store.records[id] = nil
      let answers = scene.answers()
      #expect(zip(answers, honest).allSatisfy { $0 == nil || $0 == $1 }, "\(id)")
      #expect(answers != honest)
      #expect(try !scene.vault.verify().isSound)
      if record.group != .zero { #expect(Array(answers[..<5]) == Array(honest[..<5])) }
      scene.store.records[id] = record
    }
    #expect(scene.answers() == honest)
  }

  /// Every bit of the rows that hold rules and groups, and of the nodes: an answer is right or refused, and what changes one is found.
  @Test func noFlippedBitChangesAList() throws {
    let scene = try Scene()
    let honest = scene.answers()
    var (flips, changed, wrong, missed) = (0, 0, 0, 0)
    func look() throws {
      flips += 1
      let answers = scene.answers()
      guard answers != honest else { return }
      changed += 1
      if zip(answers, honest).contains(where: { $0 != nil && $0 != $1 }) { wrong += 1 }
      if try scene.vault.verify().isSound { missed += 1 }
    }
    func flip(_ bytes: [UInt8], _ put: ([UInt8]) -> Void) throws {
      // A row of boxes has thousands of bits that all mean the same: some of each byte.
      for bit in stride(from: 0, to: bytes.count * 8, by: 13) {
        var flipped = bytes
        flipped[bit / 8] ^= 1 << UInt8(bit % 8)
        put(flipped)
        try look()
      }
      put(bytes)
    }
    for (id, record) in scene.store.records where record.group == .zero {
      let parts = TamperTests.SealedRecordParts(record)
      func put(_ change: (inout TamperTests.SealedRecordParts) -> Void) {
        var parts = parts
        change(&parts)
        scene.store.records[id] = parts.record(id)
      }
      try flip(parts.meta) { bytes in put { $0.meta = bytes } }
      try flip(parts.group.bytes) { bytes in put { $0.group = Identifier(bytes) ?? .zero } }
      try flip(parts.attributes) { bytes in put { $0.attributes = bytes } }
      try flip(parts.digest) { bytes in put { $0.digest = bytes } }
      try flip(parts.secret) { bytes in put { $0.secret = bytes } }
      let others = scene.store.records.filter { $0.key != id }
      try flip(id.bytes) { bytes in
        scene.store.records = others
        if let moved = Identifier(bytes) { scene.store.records[moved] = parts.record(moved) }
      }
      scene.store.records = others
      scene.store.records[id] = record
    }
    for (prefix, body) in scene.store.nodes { try flip(body) { scene.store.nodes[prefix] = $0 } }
    #expect(wrong == 0 && missed == 0, "\(wrong) wrong, \(missed) called sound")
    #expect(flips > 1500 && changed > 1500, "\(flips) flips changed \(changed) answers")
    #expect(scene.answers() == honest)
  }

  /// A damaged rule takes that rule's rights away, and leaves the other apps theirs.
  @Test func aDamagedGrantTakesOnlyItsOwnRights() throws {
    let scene = try Scene()
    let id = try AccessRule.Name.grant(scene.name, scene.team).recordID(scene.vault.keys)
    #expect(try scene.vault.entitlements(of: scene.app).groups.contains { $0.group == scene.team })
    scene.store.records[id] = nil
    let left = try scene.vault.entitlements(of: scene.app)
    #expect(!left.groups.contains { $0.group == scene.team })
    #expect(left.groups.map(\.group.name) == [scene.name])
    #expect(code { _ = try scene.vault.grants(to: scene.name) } == .recordMissing)
  }

  /// A change of a group by one handle must reach the other: a record that is written from an old copy loses keys, and items.
  @Test(arguments: [1, 70]) func twoHandlesLoseNoItem(commitsBetween: Int) throws {
    let store = MemoryStore()
    var one = try Vault.throwAway(in: store, deviceKey: LockScene.device())
    var other = try Vault.openThrowAway(store, deviceKey: LockScene.device())
    func add(_ account: String, _ accessible: Accessibility, with vault: inout Vault) throws -> Reference {
      try vault.add(
        Item(service: "s", account: account), secret: Secret(testing: account), accessible: accessible, at: .test)
    }
    var references = [try add("0", .whenUnlocked, with: &one), try add("1", .whenUnlocked, with: &other)]
    for number in 0..<commitsBetween { references.append(try add("n\(number)", .whenUnlocked, with: &other)) }
    references.append(try add("2", .whenUnlockedThisDevice, with: &other))
    references.append(try add("3", .afterFirstUnlockThisDevice, with: &one))
    references.append(try add("4", .whenUnlockedThisDevice, with: &one))
    references.append(try add("5", .afterFirstUnlockThisDevice, with: &other))
    let fresh = try Vault.openThrowAway(store, deviceKey: LockScene.device())
    #expect(try fresh.verify().problems == [])
    for reference in references { #expect(try !bytes(of: reference, in: fresh).isEmpty) }
    #expect(try one.entries().entries.count == references.count)
    #expect(try other.entries().unavailableCount == 0)
  }
}
