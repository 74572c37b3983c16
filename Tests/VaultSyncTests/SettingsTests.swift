import CofferTesting
import Foundation
import SecretMemory
import Testing
import VaultCore

@testable import CofferSync
@testable import VaultSync

extension Machine {
  /// Writes settings of the store `app`, as one process.
  /// - Parameter seen: The write that the program saw; nil: the shown one.
  @discardableResult
  func write(_ values: [String: [UInt8]?], seen: Identifier? = nil) throws -> [Identifier?] {
    let session = try session()
    let shown = Dictionary(uniqueKeysWithValues: session.settings(of: "app").map { ($0.name.key, $0.write.dot) })
    return try session.write(
      values.sorted { $0.key < $1.key }.map { key, value in
        LocalSetting(try SettingName(store: "app", key: key), value: value, seen: seen ?? shown[key])
      }, engine.get)
  }

  func settings(of store: String = "app") throws -> [String: [UInt8]] {
    let session = try session()
    return Dictionary(
      uniqueKeysWithValues: try session.settings(of: store).map { ($0.name.key, try session.value(of: $0, engine.get)) })
  }

  fileprivate func entity(_ key: String) throws -> Entity? {
    try session().shown(EntityKey(.setting, SettingName(store: "app", key: key).tag))
  }
}

/// The settings of one person on several machines.
@Suite struct SettingsTests {
  static func machines(_ count: Int) throws -> [Machine] {
    let machines = try SynchroniseTests.machines(count)
    for machine in machines { try machine.session().change { $0.settings.isPersonal = true } }
    return machines
  }

  @Test func settingsTravelBothWays() throws {
    let machines = try Self.machines(2)
    let (one, two) = (machines[0], machines[1])
    let large = [UInt8](repeating: 3, count: 100_000)
    try one.write(["a": [1], "b": [2], "large": large])
    let count = one.engine.shared.log.count
    try SynchroniseTests.settle(machines)
    #expect(one.engine.shared.log.count == count + 1, "many keys are one entry")
    #expect(try two.settings() == ["a": [1], "b": [2], "large": large])
    try two.write(["a": [9], "b": nil])
    try SynchroniseTests.settle(machines)
    #expect(try one.settings() == ["a": [9], "large": large])
    #expect(try one.entity("a")?[.content].count == 1, "a setting has no history")
    // A removed one comes again.
    try one.write(["b": [3]])
    try SynchroniseTests.settle(machines)
    #expect(try two.settings()["b"] == [3] && two.settings(of: "other").isEmpty)
    #expect(try one.session().settings().count == 3)
  }

  @Test func onlyAPersonalSpaceCarriesSettings() throws {
    let machine = try SynchroniseTests.machines(1)[0]
    let session = try machine.session()
    #expect(throws: SyncError(.notPersonal)) { try session.write([], machine.engine.get) }
    #expect(throws: SyncError(.notPersonal)) { try session.allow("app") }
    #expect(throws: SyncError(.notPersonal)) { try session.forget("app") }
    try session.change { $0.settings.isPersonal = true }
    try session.allow("app")
    #expect(session.state.settings.isPersonal && session.state.settings.allowed == ["app"])
  }

  /// The fold may be ahead of what the programs of this machine have been given.
  @Test func aWriteThatNobodySawIsNotReplaced() throws {
    let machines = try Self.machines(2)
    let (one, two) = (machines[0], machines[1])
    let first = try #require(try one.write(["k": [1]])[0])
    try SynchroniseTests.settle(machines)
    try one.write(["k": [2]])
    try SynchroniseTests.settle(machines)
    try two.write(["k": [3]], seen: first)
    #expect(try two.entity("k")?[.content].count == 2)
    try SynchroniseTests.settle(machines)
    #expect(try one.settings() == two.settings())
    // A removal that did not know of it removes nothing, and one that did removes all.
    try two.write(["k": nil], seen: first)
    #expect(try !two.settings().isEmpty)
    try two.write(["k": nil])
    try SynchroniseTests.settle(machines)
    #expect(try one.settings().isEmpty && one.entity("k")?.exists == false)
    // The next write drops all others.
    try one.write(["k": [4]])
    #expect(try one.entity("k")?[.content].count == 1)
  }

  @Test func aCrashMakesNoSecondOperation() throws {
    let machine = try Self.machines(1)[0]
    let large = [UInt8](repeating: 3, count: 100_000)
    let dots = try machine.write(["a": [1], "large": large])
    #expect(try machine.session().state.replica.pending.count == 2, "the files have them")
    #expect(try machine.write(["a": [1], "large": large], seen: .zero) == dots)
    try machine.synchronise()
    #expect(try machine.write(["a": [1], "large": large], seen: .zero) == dots)
    #expect(try machine.session().state.replica.pending.isEmpty)
    #expect(throws: VoidCause.form) { try machine.write(["a": []]) }
  }

  @Test func aStoreIsForgottenOnAllDevices() throws {
    let machines = try Self.machines(2)
    // More than the deletions of items that wait for a person.
    try machines[0].write(Dictionary(uniqueKeysWithValues: (0..<60).map { ("k\($0)", [1]) }))
    try SynchroniseTests.settle(machines)
    #expect(try machines[1].session().forget("app") == 60)
    #expect(try machines[1].session().forget("other") == 0)
    try SynchroniseTests.settle(machines)
    #expect(try machines[0].settings().isEmpty && machines[1].settings().isEmpty)
  }

  @Test func aFullStoreRefusesTheSameOnAllDevices() throws {
    let machines = try Self.machines(2)
    for (machine, prefix) in zip(machines, ["a", "b"]) {
      try machine.write(Dictionary(uniqueKeysWithValues: (0..<600).map { ("\(prefix)\($0)", [1]) }))
    }
    try SynchroniseTests.settle(machines)
    let refused = try machines.map { try $0.session().refusedSettings($0.engine.get) }
    #expect(refused[0].count + refused[1].count == 176)
    #expect(try machines[0].settings().count == 1024 && machines[0].settings() == machines[1].settings())
    let index = try #require(refused.firstIndex { !$0.isEmpty })
    try machines[index].session().forgetRefusedSettings()
    #expect(try machines[index].session().refusedSettings { _ in nil }.isEmpty)
  }

  @Test func theShareIsInTheFiles() throws {
    let machine = try Self.machines(1)[0]
    try machine.session().allow("b")
    try machine.session().allow("a")
    try machine.session().noteMeeting(of: "c")
    let state = try machine.session().state
    #expect(state.settings.allowed == ["a", "b"] && state.settings.met == ["c"])
    // Files of former versions have no looks, which are 24 bytes without content, no notes, 13, and no settings, 9.
    let bytes = try LocalState(state.replica, engine: "e").header().secret.copyIntoUnprotectedBytes()
    func header(_ version: UInt8, cut count: Int = 0) throws -> LocalState.Header {
      try LocalState.Header(reading: LockedBytes(Secret(testing: [version] + bytes.dropFirst().dropLast(count))))
    }
    for (version, count): (UInt8, Int) in [(1, 46), (2, 37), (3, 24), (4, 0)] {
      let former = try header(version, cut: count)
      #expect(
        former.engine == "e" && former.settings == SettingsShare() && former.notes == SyncNotes()
          && former.garbage == GarbageCollection() && former.lastInspection == 0)
    }
    #expect(throws: VoidCause.form) { try header(5) }
  }
}
