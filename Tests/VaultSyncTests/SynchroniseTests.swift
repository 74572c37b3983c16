import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore

@testable import Coffer
@testable import CofferSync
@testable import VaultSync

/// The items of several vaults in one space.
@Suite struct SynchroniseTests {
  static func machines(_ count: Int) throws -> [Machine] {
    let shared = MemoryEngine()
    let machines = try (0..<count).map { try Machine(UInt8($0), shared) }
    try machines[0].found()
    for machine in machines.dropFirst() { try machine.join(machines[0]) }
    return machines
  }

  /// Until no device has anything to do.
  static func settle(_ machines: [Machine]) throws {
    for _ in 0..<2 * machines.count { for machine in machines { try machine.synchronise() } }
  }

  @Test func changesTravelBothWays() throws {
    let machines = try Self.machines(2)
    let (one, two) = (machines[0], machines[1])
    try one.set("bob", "first", label: "Bob")
    #expect(try one.synchronise().changed == 1)
    #expect(try two.synchronise().written == 1)
    #expect(try two.values() == ["bob": "first Bob"])
    try two.set("bob", "second")
    try two.synchronise()
    try one.synchronise()
    #expect(try one.values() == ["bob": "second Bob"])
    #expect(try one.versions("bob") == ["first", "second"])
    try one.remove("bob")
    #expect(try one.synchronise().deleted == 1)
    #expect(try two.synchronise().removed == 1)
    #expect(try two.values().isEmpty)
    #expect(try two.versions("bob") == ["first", "second"])
  }

  /// A device that has nothing to do writes nothing, anywhere.
  @Test func nothingIsWrittenTwice() throws {
    let machines = try Self.machines(2)
    try machines[0].set("bob", "first")
    try Self.settle(machines)
    let (commits, entries) = (machines.map(\.store.commitCount), machines[0].engine.count)
    for machine in machines {
      let report = try machine.synchronise()
      #expect(report.changed + report.written + report.removed + report.deleted == 0)
    }
    #expect(machines.map(\.store.commitCount) == commits && machines[0].engine.count == entries)
  }

  @Test func bothValuesOfAConflictAreKept() throws {
    let machines = try Self.machines(2)
    try machines[0].set("bob", "first")
    try Self.settle(machines)
    try machines[0].set("bob", "left")
    try machines[1].set("bob", "right", label: "Bob")
    try Self.settle(machines)
    #expect(try machines[0].values() == machines[1].values())
    for machine in machines {
      #expect(try machine.versions("bob").isSuperset(of: ["left", "right"]))
      #expect(try machine.session().conflicts().map(\.name) == ["service/bob"])
    }
    // The label was changed by one of them alone, and is not part of it.
    #expect(try machines[0].session().conflicts()[0].registers == [.secret])
    #expect(try machines[0].values()["bob"]?.hasSuffix(" Bob") == true)
    try machines[0].set("bob", "both")
    try Self.settle(machines)
    #expect(try machines.map { try $0.values() } == [["bob": "both Bob"], ["bob": "both Bob"]])
    #expect(try machines.allSatisfy { try $0.session().conflicts().isEmpty })
  }

  @Test func aConflictIsSettledWithTheShownValue() throws {
    let machines = try Self.machines(2)
    for (index, machine) in machines.enumerated() { try machine.set("bob", "value \(index)") }
    try Self.settle(machines)
    let shown = try machines[1].values()
    let counts = try machines.map { try $0.versionCount("bob") }
    try machines[1].keep()
    #expect(try machines[1].synchronise().written == 0)
    try Self.settle(machines)
    #expect(try machines.allSatisfy { try $0.values() == shown && $0.session().conflicts().isEmpty })
    // An equal value is not written again.
    #expect(try machines.map { try $0.versionCount("bob") } == counts)
  }

  /// It lies in an object, which the engine may have lost.
  @Test func aConflictOfLabelsNeedsNoSecret() throws {
    let machines = try Self.machines(2)
    let secret = String(repeating: "x", count: Value.maximumInlineCount + 1)
    try machines[0].set("bob", secret)
    try Self.settle(machines)
    for (index, machine) in machines.enumerated() { try machine.set("bob", secret, label: "label \(index)") }
    try Self.settle(machines)
    #expect(try machines[1].session().conflicts().map(\.registers) == [[.content]])
    try machines[1].keep()
    try Self.settle(machines)
    #expect(try machines.allSatisfy { try $0.session().conflicts().isEmpty } && machines[0].values() == machines[1].values())
  }

  @Test func anEditBeatsADeletionThatDidNotKnowIt() throws {
    let machines = try Self.machines(2)
    try machines[0].set("bob", "first")
    try Self.settle(machines)
    try machines[0].remove("bob")
    try machines[1].set("bob", "second")
    try Self.settle(machines)
    #expect(try machines.map { try $0.values() } == [["bob": "second "], ["bob": "second "]])
  }

  @Test func equalItemsOfTheFirstMeetingAreOne() throws {
    let shared = MemoryEngine()
    let (one, two) = (try Machine(0, shared), try Machine(1, shared))
    for machine in [one, two] { try machine.set("same", "value") }
    try one.set("other", "left")
    try two.set("other", "right")
    try one.found()
    try two.join(one)
    try Self.settle([one, two])
    #expect(try one.values() == two.values())
    #expect(try one.session().conflicts().map(\.name) == ["service/other"])
    #expect(try one.versions("other") == ["left", "right"] && two.versions("other") == ["left", "right"])
  }

  @Test func itemsOfThisDeviceStay() throws {
    let machines = try Self.machines(2)
    let item = Item(service: "service", account: "device")
    try machines[0].person.add(
      item, secret: Secret(testing: "mine"), group: Machine.group, accessible: .whenUnlockedThisDevice)
    try machines[0].set("elsewhere", "mine", in: AccessGroup("private"))
    try Self.settle(machines)
    #expect(try machines[1].values().isEmpty)
    #expect(machines[0].engine.contains("mine") == false)
  }

  /// A group that another device shares is not taken, and nothing goes into a group of this vault that it does not share.
  @Test func groupsAreTakenOneByOne() throws {
    let machines = try Self.machines(2)
    let other = try AccessGroup("other")
    try machines[0].set("bob", "value", in: other)
    try machines[0].set("intruder", "value", in: other)
    try machines[1].set("bob", "mine", in: other)
    try machines[0].session().share(other, others: [])
    try Self.settle(machines)
    #expect(try machines[1].session().offeredGroups() == [other: 2])
    #expect(try machines[1].entry("intruder", in: other) == nil)
    #expect(try machines[1].person.history(of: #require(try machines[1].entry("bob", in: other)).reference).count == 1)
    try machines[1].session().share(other, others: [])
    try Self.settle(machines)
    #expect(try machines[1].person.history(of: #require(try machines[1].entry("bob", in: other)).reference).count > 1)
    try machines[1].session().unshare(other)
    try machines[0].set("bob", "later", in: other)
    try Self.settle(machines)
    #expect(try machines[1].session().offeredGroups() == [other: 2])
    #expect(throws: SyncError(.groupNotShared)) { try machines[0].session().share(AccessGroup("coffer.sync"), others: []) }
  }

  @Test func manyDeletionsWaitForAPerson() throws {
    let machines = try Self.machines(2)
    for index in 0..<60 { try machines[0].set("item \(index)", "value") }
    try Self.settle(machines)
    for index in 0..<60 { try machines[0].remove("item \(index)") }
    #expect(try machines[0].synchronise().held == 60)
    #expect(try machines[0].synchronise().held == 0)
    try Self.settle(machines)
    #expect(try machines[0].values().isEmpty && machines[1].values().count == 60)
    try machines[0].session().decideDeletions(areSent: false)
    try Self.settle(machines)
    #expect(try machines[0].values().count == 60)
    for index in 0..<60 { try machines[0].remove("item \(index)") }
    try machines[0].synchronise()
    try machines[0].session().decideDeletions(areSent: true)
    try Self.settle(machines)
    #expect(try machines[1].values().isEmpty)
  }

  /// An item that is made anew has its new value, whatever the clock says, and the deleted one is no conflict.
  @Test func anItemIsMadeAnewAfterItsDeletion() throws {
    let machines = try Self.machines(2)
    for account in ["a", "b", "c", "d", "e", "f"] {
      try machines[0].set(account, "old")
      try machines[0].synchronise()
      try machines[0].remove(account)
      try machines[0].synchronise()
      try machines[0].set(account, "new")
    }
    try machines[0].set("g", "old")
    try Self.settle(machines)
    try machines[0].remove("g")
    try Self.settle(machines)
    try machines[1].set("g", "new")
    try Self.settle(machines)
    for machine in machines {
      #expect(try machine.values().values.allSatisfy { $0 == "new " } && machine.values().count == 7)
      #expect(try machine.session().conflicts().isEmpty)
    }
  }

  /// An item that is there again is not one of the deletions that wait, and can be deleted alone.
  @Test func anItemOfHeldDeletionsIsMadeAnew() throws {
    let machines = try Self.machines(2)
    for index in 0..<60 { try machines[0].set("item \(index)", "value") }
    try Self.settle(machines)
    for index in 0..<60 { try machines[0].remove("item \(index)") }
    try Self.settle(machines)
    try machines[0].set("item 3", "new")
    try machines[0].set("item 4", "value")
    try Self.settle(machines)
    #expect(try machines[0].session().state.replica.pending.count == 58)
    #expect(try machines[1].values()["item 3"] == "new ")
    try machines[0].remove("item 3")
    try Self.settle(machines)
    #expect(try machines[1].values()["item 3"] == nil)
    #expect(try machines[0].values() == ["item 4": "value "] && machines[1].values().count == 59)
  }

  /// Attributes that are too long for an entry lie in an object, and the item is deleted all the same.
  @Test func anItemWithLongAttributesIsDeleted() throws {
    let machines = try Self.machines(2)
    try machines[0].set("long", "value")
    let entry = try #require(try machines[0].entry("long"))
    try machines[0].person.update(entry.reference) { item in
      for index in 0..<3 { item["user.\(index)"] = String(repeating: "x", count: 60_000) }
    }
    try Self.settle(machines)
    #expect(try machines[1].entry("long")?.item["user.2"]?.count == 60_000)
    try machines[0].remove("long")
    try Self.settle(machines)
    #expect(try machines[1].values().isEmpty)
  }

  /// An item that cannot be read any more was not deleted.
  @Test func aDamagedItemIsNotDeleted() throws {
    let machines = try Self.machines(2)
    for account in ["a", "b"] { try machines[0].set(account, "value") }
    try Self.settle(machines)
    try machines[0].damage("b")
    #expect(try machines[0].session().collect { _ in nil }.items.damage != nil)
    _ = try? machines[0].synchronise()
    try machines[1].synchronise()
    #expect(try machines[1].values().count == 2)
  }

  /// Items that a locked vault leaves out are not deleted, whenever it is locked.
  @Test func aVaultThatIsLockedMeanwhileDeletesNothing() throws {
    let machines = try Self.machines(2)
    try machines[0].set("a", "value")
    let late = Item(service: "service", account: "late")
    try machines[0].person.add(
      late, secret: Secret(testing: "value"), group: Machine.group, accessible: .afterFirstUnlock)
    try Self.settle(machines)
    for calls in 0..<30 {
      try machines[0].synchronise(lockingBeforeCall: calls)
      #expect(try machines[0].session().state.replica.pending.isEmpty, "\(calls)")
    }
    try Self.settle(machines)
    for machine in machines { #expect(try machine.values().keys.sorted() == ["a", "late"]) }
  }

  /// A group that is not there any more was renamed, perhaps: its items stay with the others.
  @Test func theDeletionOfAGroupWaits() throws {
    let machines = try Self.machines(2)
    for account in ["a", "b"] { try machines[0].set(account, "value") }
    try Self.settle(machines)
    try machines[0].renameGroup(to: AccessGroup("crew"))
    #expect(try machines[0].synchronise().held == 2)
    try Self.settle(machines)
    #expect(try machines[1].values().count == 2)
    try machines[0].session().unshare(Machine.group)
    #expect(try machines[0].session().state.replica.pending.isEmpty)
  }

  /// An item that was renamed is deleted by another device: nothing is asked for, and its versions stay.
  @Test func aRenamedItemIsDeleted() throws {
    let machines = try Self.machines(2)
    try machines[0].set("bob", "value")
    try Self.settle(machines)
    try machines[0].rename("bob", to: "ada")
    try Self.settle(machines)
    #expect(try machines[1].values() == ["ada": "value "])
    try machines[1].remove("ada")
    try Self.settle(machines)
    #expect(try machines.allSatisfy { try $0.values().isEmpty && $0.versions("ada") == ["value"] })
  }

  @Test func aDeviceThatLeavesForgetsTheSpace() throws {
    let machines = try Self.machines(2)
    try machines[0].set("bob", "value")
    try Self.settle(machines)
    try machines[1].session().forget()
    #expect(try DeviceKeys.spaces(in: machines[1].keychain).isEmpty)
    #expect(try machines[1].person.items(KeychainQuery(group: AccessGroup(unchecked: "coffer.sync"))).isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: machines[1].directory.appending(path: "sync").path).isEmpty)
    #expect(try machines[1].values() == ["bob": "value "])
  }

  @Test func largeSecretsTravelAsObjects() throws {
    let machines = try Self.machines(2)
    let large = String(repeating: "0123456789", count: 20_000)
    try machines[0].set("large", large)
    try Self.settle(machines)
    #expect(try machines[1].values() == ["large": large + " "])
    try machines[1].set("large", large + "!")
    try Self.settle(machines)
    #expect(try machines[0].values() == ["large": large + "! "])
    #expect(try machines[0].synchronise().changed == 0)
  }

  // MARK: An engine that does not give its objects now

  private static let large = String(repeating: "0123456789", count: 20_000)

  /// Two devices that have a large value, of which the second one does not get objects.
  private static func machinesWithoutObjects() throws -> [Machine] {
    let machines = try machines(2)
    try machines[0].set("large", large)
    for machine in machines { try machine.synchronise() }
    machines[1].engine.givesObjects = false
    return machines
  }

  /// A value that was taken is not compared with the engine again, and is no change of this device.
  @Test func aLargeValueThatWasTakenNeedsNoEngine() throws {
    let machines = try Self.machinesWithoutObjects()
    let report = try machines[1].synchronise()
    #expect(report.changed == 0 && report.unread.isEmpty && report.open.isEmpty)
    #expect(try machines[1].session().state.replica.pending.isEmpty)
    try machines[0].remove("large")
    try machines[0].synchronise()
    #expect(try machines[1].synchronise().removed == 1)
  }

  /// Another process has changed the item before its version was read.
  @Test func aLargeValueThatWasChangedMeanwhileIsLookedAt() throws {
    let other = String(Self.large.reversed())
    for calls in 0..<20 {
      let machines = try Self.machines(2)
      try machines[0].set("large", Self.large)
      try machines[0].synchronise()
      machines[1].crash.interruption = (calls, { _ = try? machines[1].set("large", other) })
      try machines[1].synchronise()
      machines[1].crash.interruption = nil
      let isChanged = try machines[1].versions("large").contains(other)
      try Self.settle(machines)
      #expect(try machines[0].values() == machines[1].values(), "\(calls)")
      #expect(try machines[0].versions("large").contains(other) == isChanged, "\(calls)")
    }
  }

  /// A change of this device waits until the engine answers. Then the part that was not changed is none.
  @Test func largeSecretsAreComparedWhenTheEngineAnswers() throws {
    let machines = try Self.machinesWithoutObjects()
    try machines[1].set("large", Self.large, label: "Bob")
    let report = try machines[1].synchronise()
    #expect(report.changed == 0 && report.unread.map(\.name) == ["service/large"] && !report.open.isEmpty)
    #expect(try machines[1].session().state.replica.pending.isEmpty)
    machines[1].engine.givesObjects = true
    #expect(try machines[1].synchronise().changed == 1)
    try Self.settle(machines)
    #expect(try machines.map { try $0.values() } == [["large": Self.large + " Bob"], ["large": Self.large + " Bob"]])
    #expect(machines[0].engine.shared.objects.count == 1)
  }

  /// Neither is a value of this device overwritten meanwhile.
  @Test func bothLargeValuesAreKept() throws {
    let machines = try Self.machinesWithoutObjects()
    try machines[0].set("large", "short")
    try machines[0].synchronise()
    let other = String(Self.large.reversed())
    try machines[1].set("large", other)
    try machines[1].synchronise()
    #expect(try machines[1].values() == ["large": other + " "])
    machines[1].engine.givesObjects = true
    try Self.settle(machines)
    #expect(try machines.map { try $0.session().conflicts().count } == [1, 1])
    #expect(try machines[0].versions("large").isSuperset(of: ["short", other]))
  }

  /// Nor removed: an edit beats a deletion that did not know it.
  @Test func anItemThatIsNotComparedIsNotRemoved() throws {
    let machines = try Self.machinesWithoutObjects()
    try machines[0].remove("large")
    try machines[0].synchronise()
    try machines[1].set("large", Self.large, label: "Bob")
    #expect(try machines[1].synchronise().removed == 0)
    machines[1].engine.givesObjects = true
    try Self.settle(machines)
    #expect(try machines.map { try $0.values() } == [["large": Self.large + " Bob"], ["large": Self.large + " Bob"]])
  }

  /// An item that is made anew after its deletion, which waited for a person, replaces the former value, whenever it is compared.
  @Test func aLargeItemOfHeldDeletionsIsMadeAnew() throws {
    let machines = try Self.machinesWithoutObjects()
    for index in 0..<60 { try machines[1].set("item \(index)", "value") }
    try machines[1].synchronise()
    for index in 0..<60 { try machines[1].remove("item \(index)") }
    try machines[1].remove("large")
    #expect(try machines[1].synchronise().held == 61)
    let other = String(Self.large.reversed())
    try machines[1].set("large", other)
    #expect(try machines[1].synchronise().unread.count == 1)
    machines[1].engine.givesObjects = true
    try Self.settle(machines)
    #expect(try machines[0].values()["large"] == other + " ")
    #expect(try machines.allSatisfy { try $0.session().conflicts().isEmpty })
  }
}

extension MemoryEngine {
  /// The number of entries.
  var count: Int { shared.log.count }

  func contains(_ text: String) -> Bool {
    (shared.log + Array(shared.objects.values)).contains {
      $0.count >= text.utf8.count && Data($0).range(of: Data(text.utf8)) != nil
    }
  }
}
