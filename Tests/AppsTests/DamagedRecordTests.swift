import AccessRights
import CofferApps
import CofferTesting
import SecretMemory
import Testing
import VaultCore

/// Damaged records prevent neither the removal of an app nor that of its records.
@Suite struct DamagedRecordTests {
  let bench: Workbench
  let name: String
  let store = MemoryStore()

  init() throws {
    bench = try Workbench()
    name = try bench.name()
  }

  /// Changes a byte of the secret, or else of the attributes, of a record.
  private func spoil(secret: Bool = false, where isMeant: (Identifier, SealedRecord) -> Bool) throws {
    let (id, row) = try #require(store.records.first { isMeant($0.key, $0.value) })
    let head = row.head
    let attributes = secret ? head.attributes : [head.attributes[0] ^ 1] + head.attributes.dropFirst()
    store.records[id] = SealedRecord(
      RecordHead(
        id: id, group: head.group, meta: head.meta, attributes: attributes, secretDigest: head.secretDigest,
        secretCount: head.secretCount), secret: secret ? [row.secret[0] ^ 1] + row.secret.dropFirst() : row.secret)
  }

  private func isFormer(_ row: SealedRecord) -> Bool { row.head.meta.first == 6 }

  /// Adds an item, and removes it.
  private func addRemoved(_ service: String, _ group: AccessGroup, bound: Bool, to vault: inout Vault) throws {
    var item = Item(service: service, account: "")
    if bound { item[Item.installBound] = name }
    let reference = try vault.add(item, secret: Secret(testing: "x"), to: group, at: .test)
    #expect(try vault.remove(reference, at: .test))
  }

  /// - Parameter secret: Whether the secret of the record is damaged, which is noticed when it is removed.
  @Test(arguments: [false, true]) func forgettingGoesOn(secret: Bool) throws {
    var vault = try Vault.throwAway(in: store)
    try bench.install(in: &vault)
    let own = try AccessGroup(name)
    try addRemoved("damaged", own, bound: false, to: &vault)
    let before = Set(store.records.keys)
    try spoil(secret: secret) { isFormer($1) }
    try addRemoved("removed", own, bound: false, to: &vault)
    try vault.add(Item(service: "present", account: ""), secret: Secret(testing: "x"), to: own, at: .test)
    // The walk for bound items meets the attributes of each record.
    let removal = code { try bench.apps().remove(name, in: &vault, at: .test) }
    #expect(removal == (secret ? nil : "damagedRecordsStay"))
    #expect(code { try bench.apps().forget(name, in: &vault) } == "damagedRecordsStay")
    #expect(try vault.pins() == [] && vault.entries(in: own, damaged: { _ in }).entries.isEmpty)
    #expect(store.records.filter { isFormer($0.value) }.map(\.key).allSatisfy(before.contains))
    #expect(code { try bench.apps().forget(name, in: &vault) } == "appUnknown")
  }

  @Test func aDamagedItemStopsNoForgetting() throws {
    var vault = try Vault.throwAway(in: store)
    try bench.install(in: &vault)
    let own = try AccessGroup(name)
    let present = try vault.add(Item(service: "present", account: ""), secret: Secret(testing: "x"), to: own, at: .test)
    let damaged = try vault.add(Item(service: "damaged", account: ""), secret: Secret(testing: "x"), to: own, at: .test)
    try bench.apps().remove(name, in: &vault, at: .test)
    try spoil { id, _ in id == damaged.id }
    #expect(try vault.itemCount(of: name) == 1)
    #expect(code { try bench.apps().forget(name, in: &vault) } == "damagedRecordsStay")
    #expect(store.records[present.id] == nil && store.records[damaged.id] != nil)
    #expect(try vault.pins() == [])
  }

  @Test(arguments: [false, true]) func removingAnAppGoesOn(secret: Bool) throws {
    var vault = try Vault.throwAway(in: store)
    try bench.install(in: &vault)
    let own = try AccessGroup(name)
    try addRemoved("damaged", own, bound: true, to: &vault)
    try spoil(secret: secret) { isFormer($1) }
    var item = Item(service: "present", account: "")
    item[Item.installBound] = name
    let present = try vault.add(item, secret: Secret(testing: "x"), to: own, at: .test)
    #expect(code { try bench.apps().remove(name, in: &vault, at: .test) } == "damagedRecordsStay")
    #expect(store.records[present.id] == nil)
    // It is finished: nothing is left for a recovery.
    #expect(bench.names("Apps").allSatisfy { $0 == ".lock" } && !bench.exists("Containers/\(name)"))
    #expect(code { try bench.apps().remove(name, in: &vault, at: .test) } == "appNotInstalled")
  }
}
