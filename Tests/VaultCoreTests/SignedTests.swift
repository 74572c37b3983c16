import CofferTesting
import Testing

@testable import SecretMemory
@testable import VaultCore

/// Rows that only somebody with the keys can have made, with every digest above them right: each check below the digests by itself.
@Suite final class SignedTests {
  let store = MemoryStore()
  let vault: Vault
  let bob: Reference

  init() throws {
    var vault = try Vault.throwAway(in: store)
    bob = try vault.add(Item(service: "github", account: "bob"), secret: Secret(testing: "secret"), at: .test)
    try vault.add(Item(service: "github", account: "alice"), secret: Secret(testing: "secret"), at: .test)
    self.vault = vault
  }

  /// Makes the tree and the header fit the records.
  func sign() throws {
    let keys = vault.keys.integrity
    var header = try SealedHeader(parsing: store.header[0] ?? []).header
    var root = Node(prefix: [], isLeaf: true)
    for (id, record) in store.records.sorted(by: { $0.key < $1.key }) { root.append(id, keys.leaf(record.head)) }
    store.nodes[[]] = root.body
    header.root = keys.node(root, depth: 0)
    header.recordCount = UInt64(root.count)
    store.header[0] = header.sealed(with: keys).bytes
  }

  /// Replaces the record under `id` by one of another kind or with other boxes, and signs.
  func forge(_ id: Identifier, kind: RecordKind? = nil, attributes: [UInt8]? = nil, secret: [UInt8]? = nil) throws {
    let old = try #require(store.records[id])
    var meta = old.meta
    if let kind { meta[0] = kind.rawValue }
    store.records[id] = SealedRecord(
      id: id, group: old.group, meta: meta, attributes: attributes ?? old.attributes, secret: secret ?? old.secret)
    try sign()
  }

  func open() throws -> Vault { try Vault.openThrowAway(store) }

  /// The control.
  @Test func signedRowsAreAccepted() throws {
    try sign()
    #expect(try open().verify().problems == [])
  }

  @Test func headerIsOfThisVault() throws {
    store.header[0]?[24] ^= 1
    let mac = vault.keys.integrity.headerMAC(Array((store.header[0] ?? []).prefix(224)))
    store.header[0]?.replaceSubrange(224..., with: mac.bytes)
    #expect(code { _ = try vault.status() } == .headerForged)
  }

  @Test(arguments: [RecordKind.accessRule, .alias, .policy]) func groupIsAGroup(kind: RecordKind) throws {
    try forge(vault.keys.groupRecordID(.standard), kind: kind)
    #expect(code { _ = try open().entry(Item(service: "github", account: "bob")) } == .recordMalformed)
  }

  @Test func itemIsAnItem() throws {
    try forge(bob.id, kind: .history)
    #expect(code { _ = try open().entry(Item(service: "github", account: "bob")) } == .recordMalformed)
    #expect(code { _ = try open().secret(of: bob) } == .recordMalformed)
  }

  /// Also where the box is not opened.
  @Test(arguments: [0, 40, 41, 167, 169]) func boxesHaveALength(count: Int) throws {
    let box = [UInt8](repeating: 0, count: count)
    let record = try #require(store.records[bob.id])
    try forge(bob.id, secret: box)
    #expect(code { _ = try open().entries() } == .recordMalformed)
    try forge(bob.id, attributes: record.attributes, secret: record.secret)
    let former = try #require(Identifier([UInt8](repeating: 0x80, count: 16)))
    store.records[former] = SealedRecord(
      id: former, group: record.group, meta: [RecordKind.history.rawValue] + record.meta.dropFirst(), attributes: box,
      secret: record.secret)
    try sign()
    #expect(try open().verify().problems.map(\.code) == [.recordMalformed])
  }

  @Test(arguments: [0, 40, 41, 167, 169]) func boxOfAnotherLengthIsNotTried(count: Int) {
    let box = [UInt8](repeating: 0, count: count)
    #expect(code { _ = try SecretBox.open(box, key: .random()) } == .recordMalformed)
  }

  @Test func verificationOpensBothFields() throws {
    let record = try #require(store.records[bob.id])
    let box = [UInt8](repeating: 0, count: record.attributes.count)
    try forge(bob.id, attributes: box)
    #expect(try open().verify().problems.map(\.code) == [.sealBroken])
    try forge(bob.id, attributes: record.attributes, secret: box)
    #expect(try open().verify().problems.map(\.code) == [.sealBroken])
  }

  /// The first byte of an identifier is what lists go by.
  @Test(
    arguments: [
      (0x00, .item), (0x80, .item), (0xFF, .item), (0x01, .group), (0x7F, .accessRule), (0x80, .group), (0xFF, .policy),
      (0x00, .history),
      (0x7F, .history),
    ] as [(UInt8, RecordKind)])
  func anIdentifierTellsTheKind(first: UInt8, kind: RecordKind) throws {
    let record = try #require(store.records[bob.id])
    let id = try #require(Identifier([first] + [UInt8](repeating: 9, count: 15)))
    store.records[id] = SealedRecord(
      id: id, group: kind.isSystem ? .zero : record.group, meta: [kind.rawValue] + record.meta.dropFirst(),
      attributes: record.attributes, secret: record.secret)
    try sign()
    #expect(try Set(open().verify().problems.map(\.code)) == [.recordMalformed])
    switch first {
    case 0x00: #expect(code { _ = try open().groups() } == .recordMalformed)
    case 0x01...0x7F: #expect(code { _ = try open().entries() } == .recordMalformed)
    default: #expect(try open().entries().entries.count == 2)
    }
  }

  /// A genuine digest beside another secret.
  @Test func aSecretIsTheOneOfItsDigest() throws {
    let record = try #require(store.records[bob.id])
    let other = try #require(store.records.values.first { $0.group != .zero && $0.id != bob.id })
    store.records[bob.id] = SealedRecord(record.head, secret: other.secret)
    try sign()
    #expect(code { _ = try open().secret(of: bob) } == .recordForged)
    #expect(code { _ = try open().entryWithSecret(Item(service: "github", account: "bob")) } == .recordForged)
    #expect(try open().verify().problems.map(\.code) == [.recordForged])
    // A list does not look at secrets.
    #expect(try open().entries().entries.count == 2)
  }

  /// Wherever in its node it lies.
  @Test func noRowIsLeftOutOfAList() throws {
    for (id, record) in store.records {
      store.records[id] = nil
      #expect(code { _ = try open().entries(in: .standard) } == .recordMissing || record.group == .zero)
      #expect(code { _ = try open().groups() } == (record.group == .zero ? .recordMissing : nil))
      store.records[id] = record
    }
  }
}
