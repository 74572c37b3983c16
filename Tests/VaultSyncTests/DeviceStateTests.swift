import CofferTesting
import Foundation
import SecretMemory
import SyncSimulation
import Testing
import VaultCore

@testable import Coffer
@testable import CofferSync
@testable import VaultSync

/// The state of one device: what it keeps, what it counts, and how it waits for others.
@Suite struct DeviceStateTests {
  /// A second device of one vault would replace the state of the first one, whose keys the vault keeps.
  @Test func aVaultIsOneDeviceOfASpace() throws {
    let machines = try SynchroniseTests.machines(2)
    try machines[0].set("bob", "first")
    #expect(throws: SyncError(.deviceAlready)) { try machines[0].join(machines[1]) }
    #expect(try machines[0].session().state.replica.pending.isEmpty)
    try SynchroniseTests.settle(machines)
    #expect(try machines[1].values() == ["bob": "first "])
  }

  /// The files may be those of a vault that is put back.
  @Test func aVaultThatTakesNoKeysLeavesTheFiles() throws {
    let machines = try SynchroniseTests.machines(1)
    // They remove their files when they go.
    defer { withExtendedLifetime(machines) {} }
    let session = try machines[0].session()
    // It has no key of this device.
    let other = try Keychain(Vault.throwAway(), as: .groups([DeviceKeys.group]))
    let state = machines[0].directory.appending(path: "sync/\(session.keys.space)/state")
    session.files.rest()
    let former = try Data(contentsOf: state)
    #expect(throws: KeychainError(.otherDevice)) {
      try DeviceKeys.make(in: other, files: machines[0].directory.path, person: "ada", name: "copy") { _ in session.state }
    }
    #expect(try Data(contentsOf: state) == former)
  }

  /// Without a pass: a person sees that the machine must not be switched off yet.
  @Test func changesThatNoPassHasSeenAreCounted() throws {
    let machines = try SynchroniseTests.machines(2)
    // They remove their files when they go.
    defer { withExtendedLifetime(machines) {} }
    for account in ["one", "two"] { try machines[0].set(account, "first") }
    #expect(try machines[0].session().unseenCount() == 2)
    try SynchroniseTests.settle(machines)
    // Also items that a pass has written.
    for machine in machines { #expect(try machine.session().unseenCount() == 0) }
    try machines[1].set("one", "second")
    try machines[1].remove("two")
    try machines[1].set("three", "first")
    try machines[1].set("four", "private", in: AccessGroup("private"))
    #expect(try machines[1].session().unseenCount() == 3)
    _ = try machines[1].synchronise()
    #expect(try machines[1].session().unseenCount() == 0)
  }

  /// The values that an interrupted pass has written are no changes of a person.
  @Test func valuesOfAnInterruptedPassAreNotCounted() throws {
    let machines = try SynchroniseTests.machines(2)
    // They remove their files when they go.
    defer { withExtendedLifetime(machines) {} }
    for account in ["one", "two"] { try machines[0].set(account, "first") }
    try SynchroniseTests.settle(machines)
    try machines[0].set("one", "second")
    try machines[0].remove("two")
    try machines[0].synchronise()
    var calls = 0
    while try machines[1].values() != ["one": "second "] {
      machines[1].crash.callsUntilCrash = calls
      _ = try? machines[1].synchronise()
      machines[1].crash.callsUntilCrash = nil
      #expect(try machines[1].session().unseenCount() == 0)
      calls += 1
    }
    try machines[1].set("three", "first")
    #expect(try machines[1].session().unseenCount() == 1)
  }

  /// The process with the lock replaces the state meanwhile.
  @Test func theStateIsReadWithoutTheLock() throws {
    let machines = try SynchroniseTests.machines(1)
    // They remove their files when they go.
    defer { withExtendedLifetime(machines) {} }
    let session = try machines[0].session()
    try machines[0].set("bob", String(repeating: "x", count: Value.maximumInlineCount + 1))
    let reading = try SpaceSession(nil, in: machines[0].keychain, files: machines[0].directory.path, isLocked: false)
    #expect(reading.state.replica.count == session.state.replica.count)
    #expect(throws: SyncError(.otherCommand)) { try reading.save() }
    _ = try session.synchronise(with: machines[0].engine)
  }

  /// Devices that write at once wait for times of their own, longer after each attempt that another one has preceded.
  @Test func aDeviceThatIsPrecededWaits() throws {
    let machines = try SynchroniseTests.machines(4)
    // They remove their files when they go.
    defer { withExtendedLifetime(machines) {} }
    for (index, machine) in machines.enumerated() { try machine.set("user \(index)", "x") }
    let others = machines.dropFirst().map { machine in { _ = try machine.synchronise() } }
    let session = try machines[0].session()
    var pauses: [Int] = []
    session.pause = { pauses.append($0) }
    let report = try session.synchronise(with: PrecedingEngine(machines[0].engine, others: others))
    #expect(pauses == [1, 2, 3] && report.pending == 0)
    for tries in [1, 3, 6, 40] {
      let longest = min(1000, 10 * pow(2, Double(tries)))
      #expect(Backoff.afterContention(tries, random: 0) == 0 && Backoff.afterContention(tries, random: 0.5) == longest / 2)
    }
  }

  /// A state that lacks a value is an error, and no reason to read again and again.
  @Test func aMissingValueIsAnErrorWithoutTheLock() throws {
    let machines = try SynchroniseTests.machines(1)
    defer { withExtendedLifetime(machines) {} }
    try machines[0].set("bob", String(repeating: "x", count: Value.maximumInlineCount + 1))
    machines[0].engine.shared.isFull = true
    _ = try? machines[0].synchronise()
    let space = try #require(DeviceKeys.spaces(in: machines[0].person).first)
    let objects = machines[0].directory.appending(path: "sync/\(space)/objects")
    let values = try FileManager.default.contentsOfDirectory(at: objects, includingPropertiesForKeys: nil)
    #expect(values.count == 1)
    for value in values { try FileManager.default.removeItem(at: value) }
    #expect(throws: StoredReplicaError.self) {
      try SpaceSession(nil, in: machines[0].keychain, files: machines[0].directory.path, isLocked: false)
    }
  }
}
