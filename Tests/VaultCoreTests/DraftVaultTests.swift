import CofferTesting
import Testing

@testable import SecretMemory
@testable import VaultCore
@testable import VaultUpkeep

/// Drafts that the fixture of the file tests is not: `DraftConversionTests`.
@Suite struct DraftVaultTests {
  /// The rows of a draft with the records of a vault, under identifiers that the draft could have given them.
  static func draft(
    of store: MemoryStore, _ keys: VaultKeys, _ change: (inout [(old: Identifier, record: SealedRecord)]) -> Void = { _ in }
  ) throws -> MemoryStore {
    let draft = MemoryStore()
    let integrity = try VaultKeys(ofDraft: keys).integrity
    var header = try SealedHeader(reading: store).header
    var groups: [Identifier: GroupKeys] = [:]
    var records: [(old: Identifier, record: SealedRecord)] = []
    for record in store.records.values.sorted(by: { $0.id < $1.id }) {
      let meta = try RecordMeta(parsing: record.head, header: header)
      var bytes = record.id.bytes
      let key: Key
      if meta.kind == .item {
        bytes[0] -= 1
        key = try #require(groups[record.group]).key(meta.accessibility, epoch: meta.epoch, keys: keys)
      } else {
        bytes = Array(bytes.dropFirst()) + [7]
        let group = try keys.openGroup(record.head, secret: record.secret, meta: meta)
        groups[group.groupID] = group
        key = try keys.withMaster { try $0.derive(.vault(.systemGroup, keys.vault)) }
      }
      let old = try #require(Identifier(bytes))
      let (here, there) = (seal(record.id, record, meta, keys), seal(old, record, meta, keys))
      let attributes = try here.open(.attributes, record.attributes, with: key).copyIntoUnprotectedBytes()
      let sealed = try there.seal(
        attributes: attributes, secret: here.open(.secret, record.secret, with: key), with: key)
      records.append((old, sealed))
    }
    change(&records)
    var tree = TreeEditor(empty: draft, keys: integrity)
    for (old, record) in records {
      let head = RecordHead(
        id: old, group: record.group, meta: record.meta, attributes: record.attributes, secretDigest: record.secret,
        secretCount: record.secret.count)
      draft.records[old] = SealedRecord(head, secret: record.secret)
      try tree.set(old, to: integrity.leaf(head))
    }
    var nodes = Change()
    header.root = try tree.finish(into: &nodes)
    for (prefix, body) in nodes.nodes { draft.nodes[prefix] = body }
    draft.header = store.header
    draft.header[0] = header.sealed(with: integrity).bytes
    return draft
  }

  private static func seal(_ id: Identifier, _ record: SealedRecord, _ meta: RecordMeta, _ keys: VaultKeys) -> RecordSeal {
    RecordSeal(vault: keys.vault, id: id, group: record.group, meta: meta)
  }

  /// The result of `verify` for the converted vault.
  static func convert(_ draft: MemoryStore, leavesDamaged: Bool = false) throws -> (MemoryStore, Verification) {
    let opened = try DraftVault(opening: draft, with: .throwAway())
    let vault = MemoryStore()
    let change = try opened.convert(draft, leavesDamaged: leavesDamaged) { vault.records[$0.id] = $0 }
    for (key, row) in draft.header { vault.header[key] = row }
    for (key, row) in change.header { vault.header[key] = row }
    for (prefix, body) in change.nodes { vault.nodes[prefix] = body }
    return (vault, try opened.verify(vault, anchor: MemoryAnchorStore()))
  }

  private func scene() throws -> (MemoryStore, VaultKeys) {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store)
    try vault.createGroup(AccessGroup("team"), at: .test)
    try vault.add(Item(service: "s", account: "1"), secret: Secret(testing: "one"), to: AccessGroup("team"), at: .test)
    try vault.add(Item(service: "s", account: "2"), secret: Secret(testing: "two"), at: .test)
    return (store, vault.keys)
  }

  @Test func aSmallDraftIsConverted() throws {
    let (store, keys) = try scene()
    let (converted, verification) = try Self.convert(Self.draft(of: store, keys))
    #expect(verification.problems == [] && verification.recordCount == 4)
    let vault = try Vault.openThrowAway(converted)
    let found = try #require(try vault.entry(Item(service: "s", account: "1"), in: AccessGroup("team"))?.reference)
    let secret = try vault.secret(of: found).copyIntoUnprotectedBytes()
    #expect(secret == Array("one".utf8))
  }

  /// The draft had no such limits. Such an item is kept, and reported.
  @Test(arguments: [("a\nb", VaultError.Code.nameNotAllowed), (String(repeating: "x", count: 1200), .nameTooLong)])
  func anItemBeyondTheLimitsIsKept(service: String, code: VaultError.Code) throws {
    let (store, _) = try scene()
    var vault = try Vault.openThrowAway(store)
    let item = Item(service: service, account: "")
    try vault.transaction { transaction in
      let group = try #require(try group(transaction))
      let id = group.itemID(item)
      let meta = RecordMeta(kind: .item, accessibility: .whenUnlocked, epoch: 1, version: transaction.generation)
      let key = try group.key(.whenUnlocked, epoch: 1, keys: transaction.keys)
      let seal = RecordSeal(vault: transaction.keys.vault, id: id, group: group.groupID, meta: meta)
      try transaction.edit(id, seal.seal(attributes: item.encoded, secret: Secret(testing: "kept"), with: key))
    }
    let (converted, verification) = try Self.convert(Self.draft(of: store, vault.keys))
    #expect(verification.problems.map(\.code) == [code])
    #expect(try Vault.openThrowAway(converted).entry(item) != nil)
  }

  private func group(_ transaction: borrowing Transaction) throws -> GroupKeys? {
    try GroupDirectory(transaction.state).all.first { $0.group == .standard }
  }

  /// Contents that no program wrote into a draft, but that a holder of the master key can make.
  @Test func draftsOfNoProgramAreRefused() throws {
    let (store, keys) = try scene()
    let twins = try Self.draft(of: store, keys) { records in
      // A record in another one's place, whose identifier becomes the same.
      let item = records[records.count - 1]
      var bytes = item.old.bytes
      bytes[0] = bytes[0] < 127 ? bytes[0] + 127 : bytes[0] - 127
      if let twin = Identifier(bytes) { records.append((twin, item.record)) }
    }
    #expect(throws: VaultError(.sealBroken)) { _ = try Self.convert(twins) }
    let headless = try Self.draft(of: store, keys) { $0.removeAll { $0.record.meta[0] == 2 } }
    #expect(throws: VaultError(.unknownGroup)) { _ = try Self.convert(headless) }
    let short = try Self.draft(of: store, keys) { $0.removeLast() }
    #expect(throws: VaultError(.countMismatch)) { _ = try Self.convert(short) }
    let flagged = try Self.draft(of: store, keys)
    var header = try SealedHeader(reading: flagged).header
    header.readOnlyFlags = 2
    flagged.header[0] = header.sealed(with: keys.integrity).bytes
    #expect(throws: VaultError(.unknownReadOnlyFlag)) { _ = try Self.convert(flagged) }
  }

  /// Those that are missing, changed or not listed. The others are converted, and prove.
  @Test func damagedRecordsAreLeftOutIfAsked() throws {
    let (store, keys) = try scene()
    let draft = try Self.draft(of: store, keys)
    let all = draft.records.keys.sorted()
    let changed = try #require(all.first { draft.records[$0]?.meta.first == RecordKind.item.rawValue })
    let moved = try #require(all.first { $0 != changed })
    let record = try #require(draft.records[changed])
    let head = RecordHead(
      id: changed, group: record.group, meta: record.meta, attributes: record.attributes.map { $0 ^ 1 },
      secretDigest: record.secret, secretCount: record.secret.count)
    draft.records[changed] = SealedRecord(head, secret: record.secret)
    let unlisted = try #require(Identifier([0x55] + moved.bytes.dropFirst()))
    let copy = try #require(draft.records[moved])
    draft.records[unlisted] = SealedRecord(
      RecordHead(
        id: unlisted, group: copy.group, meta: copy.meta, attributes: copy.attributes, secretDigest: copy.secret,
        secretCount: copy.secret.count), secret: copy.secret)
    #expect(throws: VaultError.self) { _ = try Self.convert(draft) }
    let (_, verification) = try Self.convert(draft, leavesDamaged: true)
    #expect(verification.problems == [] && verification.recordCount == UInt64(all.count - 1))
    draft.records[changed] = nil
    #expect(try Self.convert(draft, leavesDamaged: true).1.recordCount == UInt64(all.count - 1))
  }

  /// A whole vault of the format under the name of a draft does not prove.
  @Test func aVaultIsNoDraft() throws {
    let (store, _) = try scene()
    #expect(throws: VaultError(.nodeForged)) { _ = try Self.convert(store) }
  }
}
