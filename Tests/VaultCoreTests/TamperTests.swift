import CofferTesting
import Testing

@testable import SecretMemory
@testable import VaultCore

/// Every way to lie about the rows, against every kind of operation. `nil` means: the operation does not touch what was changed, and
/// its answer is right all the same.
@Suite struct TamperTests {
  enum Operation: String, CaseIterable, Sendable {
    case unlock, lookUp, absence, list, add, update, verify
  }

  struct Attack: Sendable, CustomTestStringConvertible {
    let name: String
    let change: @Sendable (inout Scene) throws -> Void
    let expected: [Operation: VaultError.Code]
    var testDescription: String { name }

    init(_ name: String, _ expected: [Operation: VaultError.Code], _ change: @escaping @Sendable (inout Scene) throws -> Void) {
      self.name = name
      self.expected = expected
      self.change = change
    }

    static func all(_ code: VaultError.Code, but others: [Operation: VaultError.Code?] = [:]) -> [Operation: VaultError.Code] {
      var expected = Dictionary(uniqueKeysWithValues: Operation.allCases.map { ($0, code) })
      for (operation, code) in others { expected[operation] = code }
      return expected
    }
  }

  /// A vault with a past, its present rows, and another vault under the same credential.
  struct Scene {
    let store = MemoryStore()
    /// The rows before bob's secret was changed.
    let past: MemoryStore
    let other = MemoryStore()
    let bob: Reference
    let alice: Reference
    let team: Reference
    let otherBob: Reference

    init() throws {
      var vault = try Vault.throwAway(in: store)
      bob = try vault.add(Item(service: "github", account: "bob"), secret: Secret(testing: "old"), at: .test)
      alice = try vault.add(Item(service: "github", account: "alice"), secret: Secret(testing: "secret"), at: .test)
      try vault.createGroup(AccessGroup("team"), at: .test)
      team = try vault.add(
        Item(service: "db", account: "ada"), secret: Secret(testing: "secret"), to: AccessGroup("team"), at: .test)
      past = store.copy()
      try vault.update(bob, secret: Secret(testing: "new"), at: .test)
      var stranger = try Vault.throwAway(in: other)
      otherBob = try stranger.add(Item(service: "github", account: "bob"), secret: Secret(testing: "x"), at: .test)
    }

    func edit(_ id: Identifier, _ change: (inout SealedRecordParts) -> Void) {
      guard let record = store.records[id] else { return }
      var parts = SealedRecordParts(record)
      change(&parts)
      store.records[id] = parts.record(id)
    }
  }

  struct SealedRecordParts {
    var group: Identifier
    var meta: [UInt8]
    var attributes: [UInt8]
    var digest: [UInt8]
    var secret: [UInt8]
    init(_ record: SealedRecord) {
      (group, meta, attributes) = (record.group, record.meta, record.attributes)
      (digest, secret) = (record.head.secretDigest, record.secret)
    }
    func record(_ id: Identifier) -> SealedRecord {
      SealedRecord(
        RecordHead(
          id: id, group: group, meta: meta, attributes: attributes, secretDigest: digest, secretCount: secret.count),
        secret: secret)
    }
  }

  static func run(_ operation: Operation, _ vault: inout Vault, _ scene: Scene) throws {
    switch operation {
    case .unlock: _ = try Vault.openThrowAway(scene.store)
    case .lookUp:
      let entry = try #require(try vault.entry(Item(service: "github", account: "bob")))
      let secret = try vault.secret(of: entry.reference).copyIntoUnprotectedBytes()
      #expect(secret == Array("new".utf8))
    case .absence: #expect(try vault.entry(Item(service: "github", account: "nobody")) == nil)
    case .list: #expect(try vault.entries().entries.count == 3)
    case .add: try vault.add(Item(service: "new", account: "item"), secret: Secret(testing: "x"), at: .test)
    case .update: try vault.update(scene.bob, secret: Secret(testing: "newer"), at: .test)
    case .verify: if let problem = try vault.verify().problems.first { throw problem }
    }
  }

  static let record: [Operation: VaultError.Code] = [
    .lookUp: .recordForged, .list: .recordForged, .update: .recordForged, .verify: .recordForged,
  ]

  /// A list does not read the secret, and what replaces it has no need of the old one.
  static let secret = record.filter { $0.key == .lookUp || $0.key == .verify }

  static let attacks: [Attack] = [
    Attack("row deleted", [.lookUp: .recordMissing, .list: .recordMissing, .update: .recordMissing, .verify: .recordMissing]) {
      $0.store.records[$0.bob.id] = nil
    },
    Attack("row replayed", record) { $0.store.records[$0.bob.id] = $0.past.records[$0.bob.id] },
    Attack("row of another vault", record) { scene in
      guard let stranger = scene.other.records[scene.otherBob.id] else { return }
      scene.store.records[scene.bob.id] = SealedRecordParts(stranger).record(scene.bob.id)
    },
    Attack("row of another item", record) { scene in
      guard let alice = scene.store.records[scene.alice.id] else { return }
      scene.store.records[scene.bob.id] = SealedRecordParts(alice).record(scene.bob.id)
    },
    Attack("row of another group", record) { scene in
      guard let ada = scene.store.records[scene.team.id] else { return }
      scene.store.records[scene.bob.id] = SealedRecordParts(ada).record(scene.bob.id)
    },
    Attack("group exchanged", record) { scene in
      let team = scene.store.records[scene.team.id]?.group ?? .zero
      scene.edit(scene.bob.id) { $0.group = team }
    },
    Attack("class lowered", record) { scene in scene.edit(scene.bob.id) { $0.meta[1] = 2 } },
    Attack("kind exchanged", record) { scene in scene.edit(scene.bob.id) { $0.meta[0] = 2 } },
    Attack("epoch raised", record) { scene in scene.edit(scene.bob.id) { $0.meta[4] = 2 } },
    Attack("version raised", record) { scene in scene.edit(scene.bob.id) { $0.meta[8] += 1 } },
    Attack("flag set", record) { scene in scene.edit(scene.bob.id) { $0.meta[2] = 1 } },
    Attack("fields exchanged", record) { scene in
      scene.edit(scene.bob.id) { ($0.attributes, $0.secret) = ($0.secret, $0.attributes) }
    },
    Attack("secret replayed", secret) { scene in
      let old = scene.past.records[scene.bob.id]?.secret ?? []
      scene.edit(scene.bob.id) { $0.secret = old }
    },
    Attack("secret's digest changed", record) { scene in scene.edit(scene.bob.id) { $0.digest[31] ^= 1 } },
    Attack("secret and its digest replayed", record) { scene in
      guard let old = scene.past.records[scene.bob.id] else { return }
      scene.edit(scene.bob.id) { ($0.digest, $0.secret) = (old.head.secretDigest, old.secret) }
    },
    Attack("secret longer", record) { scene in scene.edit(scene.bob.id) { $0.secret += [UInt8](repeating: 0, count: 128) } },
    Attack("byte between fields moved", record) { scene in
      scene.edit(scene.bob.id) { $0.secret.insert($0.attributes.removeLast(), at: 0) }
    },
    Attack("row added", [.verify: .recordUnlisted]) { scene in
      guard let bob = scene.store.records[scene.bob.id], let id = Identifier([UInt8](repeating: 7, count: 16)) else { return }
      scene.store.records[id] = SealedRecordParts(bob).record(id)
    },
    Attack("root deleted", Attack.all(.nodeMissing, but: [.unlock: nil])) { $0.store.nodes[[]] = nil },
    Attack("root replayed", Attack.all(.nodeForged, but: [.unlock: nil])) { $0.store.nodes[[]] = $0.past.nodes[[]] },
    Attack("leaf entry removed", Attack.all(.nodeForged, but: [.unlock: nil])) { $0.store.nodes[[]]?.removeLast(48) },
    Attack("root emptied", Attack.all(.nodeForged, but: [.unlock: nil])) { $0.store.nodes[[]] = [] },
    Attack("root too long", Attack.all(.nodeMalformed, but: [.unlock: nil])) {
      $0.store.nodes[[]] = [UInt8](repeating: 0, count: Node.maximumByteCount + 48)
    },
    Attack("node added", [.verify: .nodeUnlisted]) { $0.store.nodes[[1]] = $0.store.nodes[[]] },
    Attack("rows and nodes replayed", Attack.all(.nodeForged, but: [.unlock: nil])) {
      $0.store.records = $0.past.records
      $0.store.nodes = $0.past.nodes
    },
    Attack("header replayed alone", Attack.all(.slotsForged)) {
      $0.store.header[0] = $0.past.header[0]
    },
    Attack("everything replayed under an open vault", Attack.all(.rolledBack, but: [.unlock: nil])) {
      $0.store.header = $0.past.header
      $0.store.records = $0.past.records
      $0.store.nodes = $0.past.nodes
    },
    Attack("header of another vault", Attack.all(.headerForged, but: [.unlock: .wrongCredential])) {
      $0.store.header[0] = $0.other.header[0]
    },
    Attack("header deleted", Attack.all(.headerMalformed)) { $0.store.header[0] = nil },
    Attack("generation raised", Attack.all(.headerForged)) { $0.store.header[0]?[40] += 1 },
    Attack("slots digest changed", Attack.all(.headerForged)) { $0.store.header[0]?[80] ^= 1 },
    Attack("root digest changed", Attack.all(.headerForged)) { $0.store.header[0]?[112] ^= 1 },
    Attack("header MAC changed", Attack.all(.headerForged)) { $0.store.header[0]?[255] ^= 1 },
    Attack("read-only flag set", Attack.all(.headerForged)) { $0.store.header[0]?[16] ^= 2 },
    Attack(
      "slot deleted", [.unlock: .headerMalformed, .add: .headerMalformed, .update: .headerMalformed, .verify: .headerMalformed]
    ) {
      $0.store.header[1] = nil
    },
    Attack(
      "slot of another vault", [.unlock: .wrongCredential, .add: .slotsForged, .update: .slotsForged, .verify: .slotsForged]
    ) {
      $0.store.header[1] = $0.other.header[1]
    },
    Attack("slot added", [.unlock: .slotsForged, .add: .slotsForged, .update: .slotsForged, .verify: .slotsForged]) {
      $0.store.header[8] = $0.store.header[1]
    },
    Attack("slot's key damaged", [.unlock: .slotDamaged, .add: .slotsForged, .update: .slotsForged, .verify: .slotsForged]) {
      $0.store.header[1]?[159] ^= 1
    },
    Attack("history deleted", [.unlock: .slotsForged, .add: .slotsForged, .update: .slotsForged, .verify: .slotsForged]) {
      $0.store.header[9] = nil
    },
    Attack("history shortened", [.unlock: .slotsForged, .add: .slotsForged, .update: .slotsForged, .verify: .slotsForged]) {
      $0.store.header[9]?.removeFirst(32)
    },
    Attack("history changed", [.unlock: .slotsForged, .add: .slotsForged, .update: .slotsForged, .verify: .slotsForged]) {
      $0.store.header[9]?[0] ^= 1
    },
    Attack(
      "unknown header row",
      [.unlock: .headerMalformed, .add: .headerMalformed, .update: .headerMalformed, .verify: .headerMalformed]
    ) {
      $0.store.header[10] = [1]
    },
  ]

  @Test(arguments: attacks) func refused(attack: Attack) throws {
    for operation in Operation.allCases {
      var scene = try Scene()
      var vault = try Vault.openThrowAway(scene.store)
      try attack.change(&scene)
      let before = scene.store.copy()
      let refusal = code { try Self.run(operation, &vault, scene) }
      #expect(refusal == attack.expected[operation], "\(operation) met \(refusal?.name ?? "nothing")")
      if refusal != nil {
        let isUntouched =
          scene.store.records == before.records && scene.store.nodes == before.nodes && scene.store.header == before.header
        #expect(isUntouched, "\(operation) changed something")
      }
    }
  }

  /// A list of groups is all of them, or an error.
  @Test(arguments: [true, false]) func noGroupIsLeftOut(isDeleted: Bool) throws {
    let scene = try Scene()
    let vault = try Vault.openThrowAway(scene.store)
    #expect(try vault.groups().count == 2)
    for (id, record) in scene.store.records where record.group == .zero {
      let before = record
      if isDeleted { scene.store.records[id] = nil } else { scene.edit(id) { $0.meta[0] = 1 } }
      #expect(code { _ = try vault.groups() } == (isDeleted ? .recordMissing : .recordForged))
      scene.store.records[id] = before
    }
    #expect(try vault.groups().count == 2)
  }

  /// The control: without an attack every operation succeeds.
  @Test func honestRowsAreAccepted() throws {
    for operation in Operation.allCases {
      let scene = try Scene()
      var vault = try Vault.openThrowAway(scene.store)
      try Self.run(operation, &vault, scene)
    }
  }

  /// A file full of rows that nothing lists does not fill the memory of whoever verifies it.
  @Test func problemsAreCountedAndNotAllKept() throws {
    let scene = try Scene()
    let bob = try #require(scene.store.records[scene.bob.id])
    for number in 0..<1500 {
      let id = try #require(Identifier([UInt8](repeating: 0, count: 14) + [UInt8(number >> 8), UInt8(number & 255)]))
      scene.store.records[id] = SealedRecordParts(bob).record(id)
    }
    let verification = try Vault.openThrowAway(scene.store).verify()
    #expect(verification.problemCount == 1500)
    #expect(verification.problems.count == Verification.maximumProblemCount)
    #expect(!verification.isSound)
  }

  /// Every bit of every row, once.
  @Test func noBitFlipIsAccepted() throws {
    let scene = try Scene()
    func refuses() -> Bool {
      do {
        let vault = try Vault.openThrowAway(scene.store)
        return try !vault.verify().isSound
      } catch { return true }
    }
    let honest = refuses()
    #expect(!honest)
    var accepted = 0
    var flips = 0
    func flip(_ bytes: [UInt8], _ put: ([UInt8]) -> Void) {
      for bit in 0..<bytes.count * 8 {
        var flipped = bytes
        flipped[bit / 8] ^= 1 << UInt8(bit % 8)
        put(flipped)
        flips += 1
        if !refuses() { accepted += 1 }
      }
      put(bytes)
    }
    for (key, bytes) in scene.store.header { flip(bytes) { scene.store.header[key] = $0 } }
    for (prefix, body) in scene.store.nodes { flip(body) { scene.store.nodes[prefix] = $0 } }
    for (id, record) in scene.store.records where id == scene.bob.id {
      flip(record.attributes) { attributes in scene.edit(id) { $0.attributes = attributes } }
      flip(record.head.secretDigest) { digest in scene.edit(id) { $0.digest = digest } }
      flip(record.secret) { secret in scene.edit(id) { $0.secret = secret } }
      flip(record.meta) { meta in scene.edit(id) { $0.meta = meta } }
      flip(record.group.bytes) { group in scene.edit(id) { $0.group = Identifier(group) ?? .zero } }
    }
    #expect(accepted == 0)
    #expect(flips > 8000)
  }
}
