import CofferTesting
import Passphrases
import Testing

@testable import AccessRights
@testable import SecretMemory
@testable import VaultCore

/// A vault with an item of every class, by way of a key file, a passphrase and a device key.
struct LockScene: ~Copyable {
  let store: MemoryStore
  var vault: Vault
  let references: [Accessibility: Reference]

  static func device() throws -> Secret { try Secret(testing: [UInt8](repeating: 7, count: 32)) }

  init(in store: MemoryStore = MemoryStore(), anchor: (any AnchorStore)? = nil) throws {
    self.store = store
    var vault = try Vault.throwAway(in: store, anchor: anchor, deviceKey: Self.device())
    try vault.addSlot(.passphrase(Secret(testing: "one")), kdf: .lowMemory)
    var references: [Accessibility: Reference] = [:]
    for accessibility in Accessibility.allCases {
      references[accessibility] = try vault.add(
        Self.item(accessibility), secret: Secret(testing: "\(accessibility)"), accessible: accessibility, at: .test)
    }
    self.references = references
    self.vault = vault
  }

  static func item(_ accessibility: Accessibility) -> Item { Item(service: "s", account: "\(accessibility)") }

  func reference(_ accessibility: Accessibility) throws -> Reference { try #require(references[accessibility]) }

  /// As another process has it.
  func other() throws -> Vault { try Vault.openThrowAway(store, deviceKey: Self.device()) }
}

/// Items that open while a vault is locked, and items that do not.
@Suite struct LockTests {
  /// Written out: what is kept is not to be asked from what keeps it.
  static let kept: [Accessibility] = [.afterFirstUnlock, .afterFirstUnlockThisDevice]
  static let forgotten: [Accessibility] = [.whenUnlocked, .whenUnlockedThisDevice, .whenPasscodeSetThisDevice]

  @Test(arguments: kept) func itemsAfterFirstUnlockAreUsed(accessibility: Accessibility) throws {
    var scene = try LockScene()
    let team = try AccessGroup("team")
    try scene.vault.createGroup(team, at: .test)
    // This item gives the group a key for the class.
    try scene.vault.add(Item(service: "t", account: ""), secret: Secret(count: 0), to: team, accessible: accessibility, at: .test)
    let reference = try scene.reference(accessibility)
    scene.vault.lock()
    let isLocked = scene.vault.isLocked
    #expect(isLocked)
    #expect(try bytes(of: reference, in: scene.vault) == Array("\(accessibility)".utf8))
    #expect(try scene.vault.entry(LockScene.item(accessibility))?.reference == reference)
    #expect(try scene.vault.entry(reference).accessibility == accessibility)
    #expect(try scene.vault.entryWithSecret(LockScene.item(accessibility)) != nil)

    let added = try scene.vault.add(
      Item(service: "new", account: ""), secret: Secret(testing: "new"), accessible: accessibility, at: .test)
    try scene.vault.update(added, at: .test) { $0.label = "L" }
    try scene.vault.update(added, secret: Secret(testing: "newer"), at: .test)
    let moved = try scene.vault.move(added, to: team, at: .test)
    #expect(try scene.vault.entry(Item(service: "new", account: "")) == nil)
    try scene.vault.remove(reference)
    #expect(code { _ = try scene.vault.entry(reference) } == .notFound)

    // With all keys it is the same, and sound.
    let open = try scene.other()
    #expect(try bytes(of: moved, in: open) == Array("newer".utf8))
    #expect(try open.entry(moved).item.label == "L")
    #expect(try open.entry(moved).accessibility == accessibility)
    #expect(code { _ = try open.entry(reference) } == .notFound)
    let others = LockTests.kept.filter { $0 != accessibility } + LockTests.forgotten
    for other in others { #expect(try bytes(of: scene.reference(other), in: open) == Array("\(other)".utf8)) }
    #expect(try open.verify().problems == [])
  }

  @Test(arguments: forgotten) func itemsOfOtherClassesAreLocked(accessibility: Accessibility) throws {
    var scene = try LockScene()
    let reference = try scene.reference(accessibility)
    let item = LockScene.item(accessibility)
    scene.vault.lock()
    let generation = try scene.vault.status().generation
    #expect(code { _ = try scene.vault.entry(reference) } == .locked)
    #expect(code { _ = try scene.vault.entry(item) } == .locked)
    #expect(code { _ = try scene.vault.secret(of: reference) } == .locked)
    #expect(code { _ = try scene.vault.entryWithSecret(item) } == .locked)
    #expect(code { try scene.vault.update(reference, at: .test) { $0.label = "L" } } == .locked)
    #expect(code { try scene.vault.update(reference, secret: Secret(count: 0), at: .test) } == .locked)
    #expect(code { try scene.vault.move(reference, to: .standard, at: .test) } == .locked)
    #expect(code { try scene.vault.remove(reference) } == .locked)
    #expect(code { try scene.vault.remove(item) } == .locked)
    let new = Item(service: "new", account: "")
    #expect(code { try scene.vault.add(new, secret: Secret(count: 0), accessible: accessibility, at: .test) } == .locked)
    // It is there all the same, and nothing takes its place.
    #expect(code { try scene.vault.add(item, secret: Secret(count: 0), accessible: .afterFirstUnlock, at: .test) } == .duplicate)
    #expect(try scene.vault.status().generation == generation)
    #expect(try bytes(of: reference, in: scene.other()) == Array("\(accessibility)".utf8))
  }

  @Test func listsLeaveOutWhatTheyCannotOpen() throws {
    var scene = try LockScene()
    let (team, empty) = (try AccessGroup("team"), try AccessGroup("empty"))
    for group in [team, empty] { try scene.vault.createGroup(group, at: .test) }
    try scene.vault.add(Item(service: "t", account: ""), secret: Secret(count: 0), to: team, at: .test)
    scene.vault.lock()
    let list = try scene.vault.entries()
    #expect(Set(list.entries.map(\.accessibility)) == Set(Self.kept))
    #expect(list.lockedGroups == [.standard, team] && !list.hasUnknownGroups && list.unavailableCount == 0)
    #expect(try scene.vault.entries(in: team).entries.isEmpty)
    #expect(try scene.vault.entries(in: team).lockedGroups == [team])
    #expect(try scene.vault.entries(in: empty).lockedGroups.isEmpty)
    #expect(try scene.vault.groups() == [.standard, empty, team])
    #expect(try scene.vault.contains(team))
    // The absence of an item in a known group is proven as usual.
    #expect(try scene.vault.entry(Item(service: "none", account: "")) == nil)
    #expect(try scene.other().entries().lockedGroups.isEmpty)
  }

  @Test func operationsOfTheOwnerAreLocked() throws {
    var scene = try LockScene()
    let app = try SampleApp(1).signed(try SampleApp(1).manifest())
    let name = app.manifest.applicationIdentifier
    let grant = Grant(to: name, .standard, .read, at: .test)
    try scene.vault.transaction { transaction in
      _ = try transaction.install(app, at: .test)
      try transaction.put(grant)
    }
    let passphrase = try #require(try scene.vault.status().slots.first { $0.type == .passphrase })
    scene.vault.lock()
    let before = scene.store.records
    let header = try scene.store.header(0)
    #expect(code { try scene.vault.addSlot(.keyFile(Secret(count: 64))) } == .locked)
    #expect(code { _ = try scene.vault.addRecoverySlot() } == .locked)
    #expect(code { try scene.vault.replaceSlot(scene.vault.openedSlot.id, with: .keyFile(Secret(count: 64))) } == .locked)
    #expect(code { try scene.vault.removeSlot(scene.vault.openedSlot.id) } == .locked)
    #expect(code { try scene.vault.removeSlot(passphrase.id) } == .locked)
    #expect(code { try scene.vault.createGroup(AccessGroup("new"), at: .test) } == .locked)
    #expect(code { try scene.vault.transaction { try $0.put(grant) } } == .locked)
    #expect(code { try scene.vault.transaction { try $0.removeGrant(to: name, .standard) } } == .locked)
    #expect(code { try scene.vault.transaction { try $0.removePin(name) } } == .locked)
    #expect(code { try scene.vault.transaction { try $0.markRemoved(name, at: .test) } } == .locked)
    #expect(code { try scene.vault.transaction { _ = try $0.install(app, at: .test) } } == .locked)
    #expect(code { _ = try scene.vault.verify() } == .locked)
    #expect(try scene.store.records == before && scene.store.header(0) == header)
    // Decisions from before the lock stay known.
    #expect(try scene.vault.grants() == [grant])
    #expect(try scene.vault.pins().map(\.applicationIdentifier) == [name])
    #expect(try scene.vault.entitlements(of: app).check(.standard, .read) == .standard)
  }

  /// A class whose key the group has not: making it takes the group's record.
  @Test func theFirstItemOfAClassTakesAnOpenVault() throws {
    var vault = try Vault.throwAway(deviceKey: LockScene.device())
    vault.lock()
    let item = Item(service: "s", account: "")
    #expect(
      code { try vault.add(item, secret: Secret(count: 0), accessible: .afterFirstUnlockThisDevice, at: .test) } == .locked)
    try vault.add(item, secret: Secret(count: 0), accessible: .afterFirstUnlock, at: .test)
  }

  @Test func itemsOfAnotherDeviceAreLockedToo() throws {
    let scene = try LockScene()
    var without = try Vault.openThrowAway(scene.store)
    without.lock()
    let reference = try scene.reference(.afterFirstUnlockThisDevice)
    #expect(code { _ = try without.secret(of: reference) } == .locked)
    #expect(try bytes(of: scene.reference(.afterFirstUnlock), in: without) == Array("afterFirstUnlock".utf8))
  }

  @Test func lockingTwiceChangesNothing() throws {
    var scene = try LockScene()
    scene.vault.lock()
    scene.vault.lock()
    #expect(try bytes(of: scene.reference(.afterFirstUnlock), in: scene.vault) == Array("afterFirstUnlock".utf8))
  }

  /// Then there is nothing to go by.
  @Test func unreadableKeysAreNotKept() throws {
    var scene = try LockScene()
    let reference = try scene.reference(.afterFirstUnlock)
    let header = try #require(try scene.store.header(0))
    var changed = header
    changed[230] ^= 1
    scene.store.header[0] = changed
    scene.vault.lock()
    scene.store.header[0] = header
    let isLocked = scene.vault.isLocked
    #expect(isLocked)
    #expect(code { _ = try scene.vault.secret(of: reference) } == .locked)
    #expect(code { _ = try scene.vault.contains(.standard) } == .locked)
    #expect(try scene.vault.entries().hasUnknownGroups)
    #expect(try scene.vault.groups().isEmpty)
  }

  /// A group or a rule whose row the store keeps back is not known, which is not "not there".
  @Test func hiddenRowsAreLocked() throws {
    var scene = try LockScene()
    let id = try scene.vault.keys.groupRecordID(.standard)
    let record = scene.store.records[id]
    scene.store.records[id] = nil
    scene.vault.lock()
    scene.store.records[id] = record
    #expect(code { _ = try scene.vault.entry(LockScene.item(.afterFirstUnlock)) } == .locked)
    #expect(code { _ = try scene.vault.entry(scene.reference(.afterFirstUnlock)) } == .locked)
    #expect(try scene.vault.entries().hasUnknownGroups)
  }

  @Test func aDamagedGroupTakesNoOtherAway() throws {
    var scene = try LockScene()
    let team = try AccessGroup("team")
    try scene.vault.createGroup(team, at: .test)
    let id = try scene.vault.keys.groupRecordID(team)
    let record = try #require(scene.store.records[id])
    scene.store.records[id] = SealedRecord(
      id: id, group: record.group, meta: record.meta, attributes: record.secret, secret: record.attributes)
    scene.vault.lock()
    #expect(try bytes(of: scene.reference(.afterFirstUnlock), in: scene.vault) == Array("afterFirstUnlock".utf8))
    #expect(code { _ = try scene.vault.contains(team) } == .locked)
  }

  @Test func theAnchorIsSavedAndTheStoreRests() throws {
    final class RestingStore: Store {
      let inner: MemoryStore
      var rests = 0
      init(_ inner: MemoryStore) { self.inner = inner }
      func read<Result: ~Copyable>(_ body: (any Rows) throws -> Result) throws -> Result { try inner.read(body) }
      func commit(_ prepare: (any Rows) throws -> Change) throws { try inner.commit(prepare) }
      func rest() { rests += 1 }
    }
    let (store, anchor) = (RestingStore(MemoryStore()), MemoryAnchorStore())
    var vault = try Vault.throwAway(in: store, anchor: anchor)
    try vault.add(Item(service: "s", account: ""), secret: Secret(count: 0), at: .test)
    let before = anchor.bytes
    vault.lock()
    #expect(anchor.bytes != before && store.rests == 1)
  }
}
