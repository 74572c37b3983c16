import CofferTesting
import Testing

@testable import AccessRights
@testable import SecretMemory
@testable import VaultCore

@Suite struct PinTests {
  let app = SampleApp(1)
  let squatter = SampleApp(2)

  @Test func anAppComesAndGoesAndItsItemsStay() throws {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store)
    let signed = try app.signed(try app.manifest(keychain: ["shared"]))
    let name = signed.manifest.applicationIdentifier
    #expect(try vault.pin(name) == nil)
    #expect(throws: VaultError(.appNotInstalled, name)) { try vault.entitlements(of: signed) }
    #expect(try vault.transaction { try $0.install(signed, at: .test) } == nil)
    let pin = try #require(try vault.pin(name))
    #expect(pin.teamKey == signed.teamKey && pin.version == 1 && pin.removed == nil && pin.applicationIdentifier == name)
    let own = try AccessGroup(name)
    let item = Item(service: "s", account: "a")
    try vault.add(item, secret: Secret(testing: "kept"), to: own, at: .test)

    try vault.transaction { try $0.markRemoved(name, at: .test) }
    #expect(try vault.pin(name)?.removed == .test)
    #expect(throws: VaultError(.appNotInstalled, name)) { try vault.entitlements(of: signed) }
    #expect(throws: VaultError(.appNotInstalled, name)) { try vault.transaction { try $0.markRemoved(name, at: .test) } }
    let before = try vault.transaction { try $0.install(signed, at: .test) }
    #expect(before?.removed == .test)
    #expect(try vault.entitlements(of: signed).groups.map(\.group.name) == ["\(app.team).shared", name])
    #expect(try vault.entry(item, in: own) != nil)
    #expect(try vault.pins().map(\.applicationIdentifier) == [name])
    #expect(try vault.verify().problems.isEmpty)
  }

  /// Twice the same writes nothing.
  @Test func installingTheSameVersionIsNoChange() throws {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store)
    let signed = try app.signed(try app.manifest())
    _ = try vault.transaction { try $0.install(signed, at: .test) }
    let header = try store.header(0)
    _ = try vault.transaction { try $0.install(signed, at: .test) }
    #expect(try store.header(0) == header)
  }

  @Test func anOlderVersionIsRefusedAlsoAfterRemoval() throws {
    var vault = try Vault.throwAway()
    let new = try app.signed(try app.manifest(version: 3))
    let old = try app.signed(try app.manifest(version: 2))
    _ = try vault.transaction { try $0.install(new, at: .test) }
    try vault.transaction { try $0.markRemoved(new.manifest.applicationIdentifier, at: .test) }
    #expect(throws: VaultError(.appDowngrade, "version 2 after 3")) {
      _ = try vault.transaction { try $0.install(old, at: .test) }
    }
    #expect(try vault.pin(new.manifest.applicationIdentifier)?.version == 3)
  }

  @Test func theSameNameOfAnotherTeamIsAnotherApp() throws {
    var vault = try Vault.throwAway()
    let (one, other) = (try app.signed(try app.manifest()), try squatter.signed(try squatter.manifest()))
    _ = try vault.transaction { try $0.install(one, at: .test) }
    #expect(try vault.transaction { try $0.install(other, at: .test) } == nil)
    let own = try AccessGroup(one.manifest.applicationIdentifier)
    #expect(throws: VaultError(.missingEntitlement, own.name)) { try vault.entitlements(of: other).check(own, .read) }
    #expect(try vault.pins().count == 2)
  }

  @Test func grantsAreSealedAndCanBeTakenBack() throws {
    var vault = try Vault.throwAway()
    let (one, other) = (try app.signed(try app.manifest()), try squatter.signed(try squatter.manifest()))
    _ = try vault.transaction { try $0.install(one, at: .test) }
    _ = try vault.transaction { try $0.install(other, at: .test) }
    let own = try AccessGroup(one.manifest.applicationIdentifier)
    let grantee = other.manifest.applicationIdentifier
    let grant = Grant(to: grantee, own, [.read, .list], asksForConfirmation: true, at: .test)
    try vault.transaction { try $0.put(grant) }
    #expect(try vault.grants() == [grant])
    #expect(try vault.grants(to: one.manifest.applicationIdentifier).isEmpty)
    #expect(try vault.entitlements(of: other).check(own, .read) == own)
    #expect(throws: VaultError(.missingEntitlement, "\(own): no right to write")) {
      try vault.entitlements(of: other).check(own, .write)
    }
    try vault.transaction { try $0.removeGrant(to: grantee, own) }
    #expect(try vault.grants().isEmpty)
    #expect(throws: VaultError(.notFound)) { try vault.transaction { try $0.removeGrant(to: grantee, own) } }
    try vault.transaction { try $0.removePin(grantee) }
    #expect(try vault.pin(grantee) == nil)
    #expect(try vault.verify().problems.isEmpty)
  }

  /// Everything in one transaction sees what was done before in it.
  @Test func aTransactionSeesItsOwnRules() throws {
    var vault = try Vault.throwAway()
    let signed = try app.signed(try app.manifest(version: 5))
    let older = try app.signed(try app.manifest(version: 4))
    try vault.transaction { transaction in
      try transaction.install(signed, at: .test)
      #expect(throws: VaultError(.appDowngrade, "version 4 after 5")) { try transaction.install(older, at: .test) }
      try transaction.removePin(signed.manifest.applicationIdentifier)
      #expect(throws: VaultError(.notFound)) { try transaction.removePin(signed.manifest.applicationIdentifier) }
    }
    #expect(try vault.pins().isEmpty)
  }

  @Test func rulesThatSayNothingKnownAreRefused() throws {
    let grant = Grant(to: "x", try AccessGroup("g"), .read, at: .test)
    func code(_ change: (inout Attributes) -> Void) throws -> VaultError.Code? {
      var attributes = grant.attributes
      change(&attributes)
      return ManifestTests.code { _ = try AccessRule(decoding: TLV.encode(attributes)) }
    }
    #expect(try code { _ in } == nil)
    #expect(try code { $0["rights"] = .integer(8) } == .accessRuleMalformed)
    #expect(try code { $0["rights"] = .integer(257) } == .accessRuleMalformed)
    // A later version may have others.
    #expect(try code { $0["rule"] = .text("other") } == nil)
    #expect(try code { $0["rule"] = nil } == .accessRuleMalformed)
    #expect(try code { $0["confirm"] = .integer(2) } == .accessRuleMalformed)
    #expect(try code { $0["group"] = .text("") } == .accessRuleMalformed)
    let pin = AppPin(try app.signed(try app.manifest()), at: .test)
    for (name, value) in [("team-key", AttributeValue.data([1])), ("identifier", .text("x")), ("version", .text("1"))] {
      var attributes = pin.attributes
      attributes[name] = value
      #expect(ManifestTests.code { _ = try AccessRule(decoding: TLV.encode(attributes)) } == .accessRuleMalformed)
    }
  }

  /// A genuine record under another one's name: what replay inside a vault would be.
  @Test func aRuleUnderAnotherNameIsRefused() throws {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store)
    let (one, other) = (try app.signed(try app.manifest()), try squatter.signed(try squatter.manifest()))
    _ = try vault.transaction { try $0.install(one, at: .test) }
    _ = try vault.transaction { try $0.install(other, at: .test) }
    let names = try [one, other].map { try AccessRule.Name.pin($0.manifest.applicationIdentifier).recordID(vault.keys) }
    let record = try #require(store.records[names[0]])
    let genuine = store.records[names[1]]
    store.records[names[1]] = TamperTests.SealedRecordParts(record).record(names[1])
    #expect(ManifestTests.code { _ = try vault.pin(other.manifest.applicationIdentifier) } == .recordForged)
    #expect(ManifestTests.code { _ = try vault.pins() } == .recordForged)
    store.records[names[1]] = genuine
    // Also one that somebody with the keys has sealed for that name.
    try vault.transaction { transaction in
      let meta = RecordMeta(kind: .accessRule, accessibility: .whenUnlocked, epoch: 1, version: transaction.generation)
      let pin = AppPin(one, at: .test)
      try transaction.edit(
        names[1],
        try transaction.keys.sealSystemRecord(
          names[1], meta: meta, attributes: TLV.encode(pin.attributes), secret: Secret(count: 0)))
    }
    #expect(ManifestTests.code { _ = try vault.pin(other.manifest.applicationIdentifier) } == .identifierMismatch)
  }

  /// A record of another kind where a rule should be, and a rule where a group should be.
  @Test func aRecordOfAnotherKindIsRefused() throws {
    var vault = try Vault.throwAway()
    let id = try AccessRule.Name.pin("x").recordID(vault.keys)
    try vault.transaction { transaction in
      let meta = RecordMeta(kind: .policy, accessibility: .whenUnlocked, epoch: 1, version: transaction.generation)
      try transaction.edit(id, try transaction.keys.sealSystemRecord(id, meta: meta, attributes: [], secret: Secret(count: 0)))
    }
    #expect(ManifestTests.code { _ = try vault.pin("x") } == .recordMalformed)
    // It is no rule: the list of rules leaves it out.
    #expect(try vault.pins().isEmpty)
  }
}
