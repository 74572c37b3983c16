import AccessRights
import AppContainers
import CofferApps
import CofferFiles
import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore

@Suite struct InstallationTests {
  let bench: Workbench
  let name: String

  init() throws {
    bench = try Workbench()
    name = try bench.name()
  }

  @Test("three executables of one manifest are installed, and only they") func files() throws {
    var vault = try Vault.throwAway()
    try bench.write("bin/intents", "x")
    try bench.write("bin/unsigned", "x")
    let text = Workbench.manifest(groups: "\"$(TEAM).data\"").replacing(
      "( { Path", with: "( { Path = \"bin/intents\"; Role = intents; }, { Path")
    let plan = try bench.install(text, in: &vault)
    #expect(plan.kind == .new && plan.isNewTeam && plan.namesakes == [])
    #expect(bench.names("Apps/\(name)") == ["Manifest.plist", "bin"])
    #expect(bench.names("Apps/\(name)/bin") == ["editor", "intents", "widget"])
    let team = try bench.team
    #expect(bench.exists("Containers/\(name)/Library/Preferences") && bench.exists("Groups/\(team).data"))
    #expect(try vault.pin(name)?.version == 1)
    #expect(try bench.states(in: vault) == [name: .installed])
    #expect(bench.names("Apps") == [".lock", name])
  }

  @Test("the app itself is not writable, and in no backup") func bundleIsReadOnly() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    #expect(try bench.mode("Apps/\(name)") == 0o500 && bench.mode("Apps/\(name)/bin") == 0o500)
    #expect(try bench.mode("Apps/\(name)/bin/editor") == 0o555 && bench.mode("Apps/\(name)/Manifest.plist") == 0o400)
    #expect(!DirectoryClass.bundle.rules.isBackedUp)
  }

  @Test func twiceIsUnchangedAndMendsDirectories() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    try bench.data.removeContainer(FileName(name))
    #expect(try bench.install(in: &vault).kind == .unchanged)
    #expect(bench.exists("Containers/\(name)/Documents"))
  }

  @Test func anUpdateTakesTheOldOnesPlace() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    try "kept".write(toFile: "\(bench.path)/data/Containers/\(name)/Documents/a", atomically: false, encoding: .utf8)
    try bench.write("bin/editor", "new")
    let plan = try bench.install(Workbench.manifest(version: 2), in: &vault)
    #expect(plan.kind == .update && plan.before?.version == 1 && !plan.isNewTeam)
    #expect(try String(contentsOfFile: "\(bench.path)/data/Apps/\(name)/bin/editor", encoding: .utf8) == "new")
    #expect(bench.exists("Containers/\(name)/Documents/a") && bench.names("Apps") == [".lock", name])
  }

  @Test func anOlderVersionIsRefusedAndNothingChanges() throws {
    var vault = try Vault.throwAway()
    try bench.install(Workbench.manifest(version: 3), in: &vault)
    #expect(code { try bench.install(Workbench.manifest(version: 2), in: &vault) } == "appDowngrade")
    #expect(try bench.states(in: vault) == [name: .installed])
    try bench.apps().remove(name, in: &vault, at: .test)
    #expect(code { try bench.install(Workbench.manifest(version: 2), in: &vault) } == "appDowngrade")
    #expect(bench.names("Apps") == [".lock"])
  }

  @Test func anotherContentNeedsAnotherVersion() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    try bench.write("bin/editor", "other")
    #expect(code { try bench.install(in: &vault) } == "sameVersionDiffers")
  }

  @Test func damageIsReportedAndRepaired() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    let file = "\(bench.path)/data/Apps/\(name)/bin/editor"
    unsafe chmod(file, 0o700)
    try "changed".write(toFile: file, atomically: false, encoding: .utf8)
    #expect(code { try InstalledApps.prove(try #require(try bench.apps().bundle(name))) } == "executableChanged")
    #expect(try bench.install(in: &vault).kind == .repair)
    #expect(code { try InstalledApps.prove(try #require(try bench.apps().bundle(name))) } == nil)
    try FileManager.default.removeItem(atPath: "\(bench.path)/data/Apps/\(name)")
    #expect(try bench.states(in: vault) == [name: .damaged])
    #expect(try bench.install(in: &vault).kind == .repair)
    #expect(try bench.states(in: vault) == [name: .installed])
  }

  @Test func aBundleInAnothersPlaceIsDamaged() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    try bench.install(Workbench.manifest("com.example.viewer"), in: &vault)
    let (one, other) = ("\(bench.path)/data/Apps/\(name)", "\(bench.path)/data/Apps/\(try bench.name("com.example.viewer"))")
    try FileManager.default.removeItem(atPath: one)
    try FileManager.default.copyItem(atPath: other, toPath: one)
    #expect(try bench.states(in: vault)[name] == .damaged)
  }

  @Test func executablesThatAreNotTheSignedOnesAreRefused() throws {
    var vault = try Vault.throwAway()
    let bytes = try bench.signed()
    let source = try OpenDirectory.foreign(bench.source)
    func attempt(_ vault: inout Vault) -> String? {
      code { try bench.apps().install(bytes, from: source, in: &vault, at: .test) }
    }
    try bench.write("bin/widget", "changed")
    #expect(attempt(&vault) == "executableChanged")
    try FileManager.default.removeItem(atPath: bench.source + "/bin/widget")
    #expect(attempt(&vault) == "executableMissing")
    try FileManager.default.createSymbolicLink(atPath: bench.source + "/bin/widget", withDestinationPath: "/bin/sh")
    #expect(attempt(&vault) == "symbolicLink")
    #expect(try vault.pins() == [] && bench.names("Apps") == [".lock"] && bench.names("Containers") == [])
  }

  @Test("items outlive the app, preferences do not; the same team finds its items again") func removal() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    let own = try AccessGroup(name)
    try vault.add(Item(service: "s", account: "a"), secret: Secret(testing: "hoge"), to: own, at: .test)
    let preferences = "Containers/\(name)/Library/Preferences/p.plist"
    try "1.0".write(toFile: "\(bench.path)/data/\(preferences)", atomically: false, encoding: .utf8)
    try bench.apps().remove(name, in: &vault, at: .test)
    #expect(bench.names("Containers") == [] && bench.names("Apps") == [".lock"])
    #expect(try bench.states(in: vault) == [name: .removed])
    #expect(code { _ = try bench.apps().remove(name, in: &vault, at: .test) } == "appNotInstalled")
    #expect(try bench.install(in: &vault).kind == .again)
    #expect(!bench.exists(preferences))
    #expect(try vault.entry(Item(service: "s", account: "a"), in: own) != nil)
  }

  /// As by the system agent, if a key file proves only itself.
  @Test func aRemovalThatIsRefusedLeavesTheAppInPlace() throws {
    var records = RefusingRecords(vault: try Vault.throwAway())
    try bench.install(in: &records.vault)
    let files = bench.names("Apps/\(name)")
    #expect(code { try bench.apps().remove(name, in: &records, at: .test) } == "locked")
    #expect(bench.names("Apps") == [".lock", name] && bench.names("Apps/\(name)") == files)
    #expect(try bench.states(in: records.vault) == [name: .installed])
  }

  @Test func aSquatterIsAnotherAppAndIsNamed() throws {
    var vault = try Vault.throwAway()
    let squatter = try bench.other()
    try bench.install(in: &vault)
    try bench.apps().remove(name, in: &vault, at: .test)
    let plan = try squatter.install(in: &vault)
    #expect(plan.namesakes.map(\.teamKey.identifier) == [try bench.team] && plan.isNewTeam)
    #expect(try bench.states(in: vault) == [name: .removed, squatter.name(): .installed])
    let signed = try SignedManifestFile.read(squatter.signed())
    #expect(code { try vault.entitlements(of: signed).check(AccessGroup(name), .read) } == "missingEntitlement")
    #expect(code { _ = try bench.apps().pin(named: "com.example.editor", in: vault) } == "severalApps")
    #expect(try bench.apps().pin(named: name, in: vault).applicationIdentifier == name)
    #expect(code { _ = try bench.apps().pin(named: "com.example.none", in: vault) } == "appUnknown")
  }

  @Test("the container of a group goes with its last member") func groups() throws {
    var vault = try Vault.throwAway()
    let group = "Groups/\(try bench.team).data"
    let other = try bench.name("com.example.viewer")
    for identifier in ["com.example.editor", "com.example.viewer"] {
      try bench.install(Workbench.manifest(identifier, groups: "\"$(TEAM).data\""), in: &vault)
    }
    try bench.install(Workbench.manifest("com.example.third"), in: &vault)
    try bench.apps().remove(name, in: &vault, at: .test)
    #expect(bench.exists(group))
    try bench.apps().remove(other, in: &vault, at: .test)
    #expect(!bench.exists(group))
  }

  @Test func aGroupStaysWhereAMemberCannotBeRead() throws {
    var vault = try Vault.throwAway()
    let other = try bench.name("com.example.viewer")
    for identifier in ["com.example.editor", "com.example.viewer"] {
      try bench.install(Workbench.manifest(identifier, groups: "\"$(TEAM).data\""), in: &vault)
    }
    try FileManager.default.removeItem(atPath: "\(bench.path)/data/Apps/\(other)/Manifest.plist")
    try bench.apps().remove(name, in: &vault, at: .test)
    #expect(bench.exists("Groups/\(try bench.team).data"))
  }

  private static let bound = Item(service: "bound", account: "")

  /// Items bound to the app, one in each group; one that is not bound; and one of another app.
  private func addBound(to vault: inout Vault) throws -> [AccessGroup] {
    let groups = [try AccessGroup(name), try AccessGroup("\(bench.team).shared"), .standard]
    for group in groups {
      var item = Self.bound
      item[Item.installBound] = try bench.name()
      try vault.add(item, secret: Secret(testing: "x"), to: group, at: .test)
      try vault.add(Item(service: "kept", account: ""), secret: Secret(testing: "x"), to: group, at: .test)
    }
    var other = Item(service: "other", account: "")
    other[Item.installBound] = try bench.name("com.example.other")
    try vault.add(other, secret: Secret(testing: "x"), at: .test)
    return groups
  }

  private func expectBoundAreGone(_ vault: borrowing Vault, _ groups: [AccessGroup]) throws {
    for group in groups {
      #expect(try vault.entry(Self.bound, in: group) == nil)
      #expect(try vault.entry(Item(service: "kept", account: ""), in: group) != nil)
    }
    #expect(try vault.entry(Item(service: "other", account: "")) != nil)
  }

  @Test func itemsThatAreBoundGoWithTheApp() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    let groups = try addBound(to: &vault)
    try bench.apps().remove(name, in: &vault, at: .test)
    try expectBoundAreGone(vault, groups)
  }

  @Test func itemsThatAreBoundGoAlsoWhereTheRemovalWasInterrupted() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    let groups = try addBound(to: &vault)
    // As after a crash right after the commit.
    try FileManager.default.moveItem(
      atPath: "\(bench.path)/data/Apps/\(name)", toPath: "\(bench.path)/data/Apps/.\(name).removing")
    try vault.transaction { try $0.markRemoved(bench.name(), at: .test) }
    #expect(try bench.install(in: &vault).kind == .again)
    try expectBoundAreGone(vault, groups)
  }

  @Test func aRunningAppIsNotRemoved() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    let lock = try RunningLock.running(FileName(name), in: bench.data.containers())
    #expect(code { try bench.apps().remove(name, in: &vault, at: .test) } == "running")
    #expect(try bench.states(in: vault) == [name: .installed])
    withExtendedLifetime(lock) {}
  }

  @Test func aForgottenAppLeavesNoRecords() throws {
    var vault = try Vault.throwAway()
    try bench.install(Workbench.manifest(version: 2), in: &vault)
    let (own, shared) = (try AccessGroup(name), try AccessGroup("\(bench.team).shared"))
    for group in [own, shared] {
      try vault.add(Item(service: "s", account: "a"), secret: Secret(testing: "x"), to: group, at: .test)
    }
    try vault.transaction { try $0.put(Grant(to: name, .standard, .read, at: .test)) }
    #expect(code { try bench.apps().forget(name, in: &vault) } == "appInstalled")
    try bench.apps().remove(name, in: &vault, at: .test)
    #expect(try vault.itemCount(of: name) == 1)
    let forgotten = try bench.apps().forget(name, in: &vault)
    #expect(forgotten.items == 1 && forgotten.unavailable == 0)
    #expect(try vault.pins() == [] && vault.grants() == [] && vault.entries(in: own).entries.isEmpty)
    // Items in the team's groups are kept.
    #expect(try vault.entries(in: shared).entries.count == 1)
    #expect(code { try bench.apps().forget(name, in: &vault) } == "appUnknown")
    #expect(try bench.install(in: &vault).kind == .new)
  }

  @Test func itemsOfAnotherDeviceStayAndAreCounted() throws {
    let store = MemoryStore()
    var vault = try Vault.throwAway(in: store, deviceKey: Secret(testing: [UInt8](repeating: 7, count: 32)))
    try bench.install(in: &vault)
    try vault.add(
      Item(service: "s", account: "a"), secret: Secret(testing: "x"), to: AccessGroup(name), accessible: .whenUnlockedThisDevice,
      at: .test)
    try bench.apps().remove(name, in: &vault, at: .test)
    var elsewhere = try Vault.openThrowAway(store)
    let forgotten = try bench.apps().forget(name, in: &elsewhere)
    #expect(forgotten.items == 0 && forgotten.unavailable == 1)
  }

  @Test func oneProcessAtATime() throws {
    let apps = try bench.apps()
    #expect(code { _ = try DirectoryLock(of: bench.data.apps(), milliseconds: 40) } == "busy")
    withExtendedLifetime(apps) {}
  }

  // MARK: Attacks that are not defended, so that a claim cannot grow unnoticed

  @Test func notDefendedTheHolderOfTheKeyIsTheTeam() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    let thief = try Workbench(seed: 1, at: bench.path + "/thief")
    try thief.write("bin/editor", "stolen")
    let bytes = try thief.signed(Workbench.manifest(version: 2))
    let plan = try bench.apps().install(bytes, from: OpenDirectory.foreign(thief.source), in: &vault, at: .test)
    #expect(plan.kind == .update && !plan.isNewTeam && plan.namesakes == [])
  }

  @Test func notDefendedProgramsOfOneUserReadAllContainers() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    let place = "\(bench.path)/data/Containers/\(name)/Documents/a"
    try "private".write(toFile: place, atomically: false, encoding: .utf8)
    #expect(try String(contentsOfFile: place, encoding: .utf8) == "private")
  }

  @Test func notDefendedAChangedFileIsSeenByShowAndNotByList() throws {
    var vault = try Vault.throwAway()
    try bench.install(in: &vault)
    let file = "\(bench.path)/data/Apps/\(name)/bin/editor"
    unsafe chmod(file, 0o700)
    try "changed".write(toFile: file, atomically: false, encoding: .utf8)
    #expect(try bench.states(in: vault) == [name: .installed])
    #expect(code { try InstalledApps.prove(try #require(try bench.apps().bundle(name))) } == "executableChanged")
  }
}

/// Records that refuse to remove an app.
private struct RefusingRecords: AppRecords, ~Copyable {
  var vault: Vault

  func pins() throws -> [AppPin] { try vault.pins() }
  func pin(_ application: String) throws -> AppPin? { try vault.pin(application) }
  mutating func install(_ signed: SignedManifest, _ bytes: [UInt8], at now: Timestamp) throws {
    try vault.install(signed, bytes, at: now)
  }
  mutating func markRemoved(_: String, at _: Timestamp) throws { throw VaultError(.locked) }
  mutating func removeBoundItems(of application: String) throws -> Int { try vault.removeBoundItems(of: application) }
  func itemCount(of application: String) throws -> Int { try vault.itemCount(of: application) }
  mutating func forget(_ application: String) throws -> ForgottenApp { try vault.forget(application) }
}
