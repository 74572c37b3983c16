import CofferTesting
import Testing

@testable import AccessRights
@testable import SecretMemory
@testable import VaultCore

/// A locked vault that other processes change: it works, or is `locked`, and never says what is not so.
@Suite struct LockedByOthersTests {
  private func lockedScene() throws -> LockScene {
    var scene = try LockScene()
    scene.vault.lock()
    return scene
  }

  @Test func itemsOfOthersAreSeen() throws {
    var scene = try lockedScene()
    var other = try scene.other()
    let new = try other.add(
      Item(service: "new", account: ""), secret: Secret(testing: "theirs"), accessible: .afterFirstUnlock, at: .test)
    let hidden = try other.add(Item(service: "hidden", account: ""), secret: Secret(count: 0), at: .test)
    #expect(try bytes(of: new, in: scene.vault) == Array("theirs".utf8))
    #expect(code { _ = try scene.vault.secret(of: hidden) } == .locked)
    try other.update(new, secret: Secret(testing: "changed"), at: .test)
    #expect(try bytes(of: new, in: scene.vault) == Array("changed".utf8))
    try scene.vault.update(new, secret: Secret(testing: "ours"), at: .test)
    #expect(try bytes(of: new, in: other) == Array("ours".utf8))
    try other.remove(new)
    try other.remove(hidden)
    #expect(code { _ = try scene.vault.secret(of: new) } == .notFound)
    #expect(code { _ = try scene.vault.secret(of: hidden) } == .notFound)
    #expect(try other.verify().problems == [])
  }

  @Test func aNewGroupIsLocked() throws {
    var scene = try lockedScene()
    var other = try scene.other()
    let team = try AccessGroup("team")
    try other.createGroup(team, at: .test)
    #expect(try !scene.vault.entries().hasUnknownGroups)
    let item = Item(service: "t", account: "")
    let reference = try other.add(item, secret: Secret(count: 0), to: team, accessible: .afterFirstUnlock, at: .test)
    #expect(code { _ = try scene.vault.contains(team) } == .locked)
    #expect(code { _ = try scene.vault.entry(item, in: team) } == .locked)
    #expect(code { _ = try scene.vault.entry(reference) } == .locked)
    #expect(code { try scene.vault.remove(reference) } == .locked)
    #expect(code { try scene.vault.move(scene.reference(.afterFirstUnlock), to: team, at: .test) } == .locked)
    #expect(code { try scene.vault.transaction { _ = try $0.contains(team) } } == .locked)
    let list = try scene.vault.entries()
    #expect(list.hasUnknownGroups && list.entries.count == 2)
    #expect(try scene.vault.groups() == [.standard])
  }

  /// It may have new keys, and newer items are sealed under them.
  @Test func aGroupThatWasChangedIsLocked() throws {
    var scene = try LockScene()
    let team = try AccessGroup("team")
    try scene.vault.createGroup(team, at: .test)
    let item = Item(service: "t", account: "")
    let reference = try scene.vault.add(item, secret: Secret(count: 0), to: team, accessible: .afterFirstUnlock, at: .test)
    scene.vault.lock()
    #expect(try scene.vault.entry(item, in: team) != nil)
    var other = try scene.other()
    try other.add(
      Item(service: "u", account: ""), secret: Secret(count: 0), to: team, accessible: .afterFirstUnlockThisDevice, at: .test)
    #expect(code { _ = try scene.vault.entry(item, in: team) } == .locked)
    #expect(code { _ = try scene.vault.secret(of: reference) } == .locked)
    #expect(
      code { try scene.vault.add(item, secret: Secret(count: 0), to: team, accessible: .afterFirstUnlock, at: .test) } == .locked)
    let list = try scene.vault.entries()
    #expect(list.lockedGroups == [.standard, team] && !list.hasUnknownGroups)
    #expect(list.entries.allSatisfy { $0.reference.group == .standard })
    #expect(try scene.vault.groups() == [.standard])
    // The others are as they were.
    #expect(try bytes(of: scene.reference(.afterFirstUnlock), in: scene.vault) == Array("afterFirstUnlock".utf8))
    // Locked and unlocked again it is known.
    var again = try scene.other()
    again.lock()
    #expect(try again.entry(item, in: team) != nil)
  }

  @Test func aGroupThatWasRemovedIsNotFound() throws {
    var scene = try LockScene()
    let team = try AccessGroup("team")
    try scene.vault.createGroup(team, at: .test)
    scene.vault.lock()
    var other = try scene.other()
    try other.transaction { try $0.edit($0.keys.groupRecordID(team), nil) }
    #expect(try !scene.vault.contains(team))
    #expect(code { _ = try scene.vault.entry(Item(service: "t", account: ""), in: team) } == .groupNotFound)
    // Made anew it has another name for each item.
    try other.createGroup(team, at: .test)
    #expect(code { _ = try scene.vault.contains(team) } == .locked)
  }

  // MARK: Rules

  private struct Apps {
    let one: SignedManifest
    let two: SignedManifest
    var names: [String] { [one, two].map(\.manifest.applicationIdentifier) }
    init() throws {
      one = try SampleApp(1).signed(try SampleApp(1).manifest())
      two = try SampleApp(2).signed(try SampleApp(2).manifest())
    }
  }

  @Test func revokedRightsGiveNothing() throws {
    var scene = try LockScene()
    let apps = try Apps()
    let (first, second) = (
      Grant(to: apps.names[0], .standard, .read, at: .test), Grant(to: apps.names[1], .standard, .all, at: .test)
    )
    try scene.vault.transaction { transaction in
      for app in [apps.one, apps.two] { _ = try transaction.install(app, at: .test) }
      for grant in [first, second] { try transaction.put(grant) }
    }
    scene.vault.lock()
    #expect(try scene.vault.grants() == [first, second].sorted { $0.application < $1.application })
    #expect(try scene.vault.entitlements(of: apps.one).check(.standard, .read) == .standard)
    var other = try scene.other()
    try other.transaction { try $0.removeGrant(to: apps.names[0], .standard) }
    #expect(code { _ = try scene.vault.entitlements(of: apps.one).check(.standard, .read) } == .missingEntitlement)
    // One that was changed is not known any more; none is guessed.
    try other.transaction { try $0.put(Grant(to: apps.names[1], .standard, .list, at: .test)) }
    #expect(try scene.vault.grants().isEmpty)
    #expect(code { _ = try scene.vault.entitlements(of: apps.two).check(.standard, .read) } == .missingEntitlement)
    // Nor is one that is new.
    try other.transaction { try $0.put(first) }
    #expect(try scene.vault.grants(to: apps.names[0]) == [])
  }

  @Test func anAppThatWasRemovedIsNotInstalled() throws {
    var scene = try LockScene()
    let apps = try Apps()
    try scene.vault.transaction { _ = try $0.install(apps.one, at: .test) }
    scene.vault.lock()
    #expect(try scene.vault.pin(apps.names[0]) != nil)
    var other = try scene.other()
    try other.transaction { try $0.markRemoved(apps.names[0], at: .test) }
    // Whether it was removed or made newer cannot be read.
    #expect(code { _ = try scene.vault.entitlements(of: apps.one) } == .locked)
    try other.transaction { try $0.removePin(apps.names[0]) }
    #expect(try scene.vault.pin(apps.names[0]) == nil)
    #expect(code { _ = try scene.vault.entitlements(of: apps.one) } == .appNotInstalled)
    // Nor is one known that came later, or never.
    try other.transaction { _ = try $0.install(apps.two, at: .test) }
    #expect(code { _ = try scene.vault.entitlements(of: apps.two) } == .locked)
    #expect(try scene.vault.pins().isEmpty)
  }

  // MARK: Integrity

  @Test func anOlderStateIsRefused() throws {
    var scene = try LockScene()
    let (before, header) = (scene.store.copy(), scene.store.header)
    let reference = try scene.vault.add(
      Item(service: "new", account: ""), secret: Secret(count: 0), accessible: .afterFirstUnlock, at: .test)
    scene.vault.lock()
    let now = scene.store.copy()
    (scene.store.header, scene.store.nodes, scene.store.records) = (header, before.nodes, before.records)
    #expect(code { _ = try scene.vault.secret(of: reference) } == .rolledBack)
    // And what grew from it.
    var fork = try Vault.openThrowAway(scene.store, deviceKey: LockScene.device())
    for number in 0..<3 {
      try fork.add(Item(service: "\(number)", account: ""), secret: Secret(count: 0), accessible: .afterFirstUnlock, at: .test)
    }
    #expect(code { _ = try scene.vault.secret(of: scene.reference(.afterFirstUnlock)) } == .forked)
    (scene.store.header, scene.store.nodes, scene.store.records) = (now.header, now.nodes, now.records)
    #expect(try bytes(of: reference, in: scene.vault) == [])
  }

  @Test func aChangedRowIsRefused() throws {
    let scene = try lockedScene()
    let reference = try scene.reference(.afterFirstUnlock)
    let record = try #require(scene.store.records[reference.id])
    scene.store.records[reference.id] = nil
    #expect(code { _ = try scene.vault.secret(of: reference) } == .recordMissing)
    scene.store.records[reference.id] = SealedRecord(
      id: record.id, group: record.group, meta: record.meta, attributes: record.attributes, secret: record.attributes)
    #expect(code { _ = try scene.vault.secret(of: reference) } == .recordForged)
  }

  /// The anchor is made and proven with keys that stay.
  @Test func changesByALockedVaultAreAnchored() throws {
    let (store, anchor) = (MemoryStore(), MemoryAnchorStore())
    var scene = try LockScene(in: store, anchor: anchor)
    scene.vault.lock()
    let backup = store.copy()
    for number in 0..<40 {
      try scene.vault.add(
        Item(service: "\(number)", account: ""), secret: Secret(count: 0), accessible: .afterFirstUnlock, at: .test)
    }
    #expect(code { _ = try Vault.openThrowAway(backup, anchor: anchor) } == .rolledBack)
    let open = try Vault.openThrowAway(store, anchor: anchor, deviceKey: LockScene.device())
    #expect(try open.verify().problems == [])
  }
}
