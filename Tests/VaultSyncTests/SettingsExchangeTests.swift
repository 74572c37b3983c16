import AppContainers
import CofferPreferences
import CofferPropertyLists
import CofferTesting
import Foundation
import SyncedSettings
import Testing
import VaultCore

@testable import CofferSync
@testable import VaultSync

/// Stores of settings on several machines.
@Suite struct SettingsExchangeTests {
  private static let name = "com.example.player"

  /// One pass, as `coffer sync now` makes it, in a process of its own.
  @discardableResult
  private static func pass(_ machine: Machine) throws -> SettingsExchange.Report {
    let session = try machine.session()
    return try session.synchronise(with: machine.engine, settings: [projection(machine)]).1
  }

  private static func projection(_ machine: Machine) throws -> SyncedProjection {
    let data = try DataDirectory(at: machine.directory.appending(path: "data").path)
    return try #require(
      try SyncedProjection(SyncedPlace(name, of: .program), in: data) { Digest.hash($0, byteCount: 32) })
  }

  private static func set(_ value: PropertyListValue?, _ key: String, on machine: Machine) throws {
    try projection(machine).store.values.set(value, forKey: key)
  }

  private static func values(_ machine: Machine) throws -> [String: String] {
    Dictionary(uniqueKeysWithValues: try projection(machine).store.values.values().unsorted.map { ($0.key, "\($0.value)") })
  }

  private static func reasons(_ machine: Machine) throws -> [SyncedReason] {
    try projection(machine).store.events(after: 0).map(\.reason)
  }

  @Test func valuesTravelBothWays() throws {
    let machines = try SettingsTests.machines(2)
    try Self.set(.integer(7), "page", on: machines[0])
    #expect(try Self.pass(machines[0]).sent == 1)
    #expect(try Self.pass(machines[1]).received == 1)
    #expect(try Self.values(machines[1]) == Self.values(machines[0]) && Self.reasons(machines[1]) == [.initialSync])
    try Self.set(.integer(8), "page", on: machines[1])
    try Self.set(.data([UInt8](repeating: 1, count: 100_000)), "large", on: machines[1])
    #expect(try Self.pass(machines[1]).sent == 2)
    #expect(try Self.pass(machines[0]).received == 2)
    #expect(try Self.values(machines[0]) == Self.values(machines[1]) && Self.reasons(machines[0]).last == .serverChange)
    try Self.set(nil, "page", on: machines[0])
    try Self.pass(machines[0])
    #expect(try Self.pass(machines[1]).received == 1)
    #expect(try Self.values(machines[1]).keys.sorted() == ["large"])
    // Nothing is to do, and nothing is done.
    let count = machines[0].engine.shared.log.count
    for machine in machines { #expect(try Self.pass(machine).sent == 0 && Self.pass(machine).received == 0) }
    #expect(machines[0].engine.shared.log.count == count)
  }

  /// A value that is missing because a file was damaged was not removed, and an older one in its place is no later change.
  @Test(arguments: ["plist", "older plist", "nothing"], [true, false])
  func aDamagedStoreTakesTheValuesOfTheLog(left: String, isPutAside: Bool) throws {
    let machines = try SettingsTests.machines(2)
    try Self.set(.integer(1), "a", on: machines[0])
    for machine in machines { try Self.pass(machine) }
    let files = machines[0].directory.appending(path: "data/SyncedPreferences/\(Self.name)").path
    try Self.projection(machines[0]).store.values.checkpoint()
    let older = try Data(contentsOf: URL(filePath: files + ".plist"))
    for (key, value) in [("a", Int64(2)), ("b", 3)] { try Self.set(.integer(value), key, on: machines[1]) }
    for machine in machines.reversed() { try Self.pass(machine) }
    #expect(try Self.values(machines[0]) == ["a": "integer(2)", "b": "integer(3)"])
    try Data(repeating: 0, count: 4096).write(to: URL(filePath: files + ".journal"))
    if left != "plist" { try FileManager.default.removeItem(atPath: files + ".plist") }
    if left == "older plist" { try older.write(to: URL(filePath: files + ".plist")) }
    // The program of the settings finds the damage first, and writes.
    if isPutAside { try Self.set(.integer(4), "c", on: machines[0]) }
    #expect(try Self.pass(machines[0]).sent == (isPutAside ? 1 : 0))
    #expect(try !Self.reasons(machines[0]).contains(.accountChange), "it is the same log")
    try Self.pass(machines[1])
    let expected = ["a": "integer(2)", "b": "integer(3)"].merging(isPutAside ? ["c": "integer(4)"] : [:]) { $1 }
    for machine in machines { #expect(try Self.values(machine) == expected) }
    // Then a removal is one again.
    try Self.set(nil, "a", on: machines[0])
    #expect(try Self.pass(machines[0]).sent == 1)
    try Self.pass(machines[1])
    #expect(try Self.values(machines[1])["a"] == nil)
  }

  /// Also if the machine that had set the other one sends it later.
  @Test func theValueThatWasSetLaterStays() throws {
    let machines = try SettingsTests.machines(2)
    for machine in machines { try Self.pass(machine) }
    for (value, machine) in zip([Int64(1), 2], machines) {
      try Self.set(.integer(value), "page", on: machine)
      try Self.note(1_700_000_000 + Double(value), on: machine)
    }
    for machine in machines.reversed() + machines { try Self.pass(machine) }
    for machine in machines { #expect(try Self.values(machine) == ["page": "integer(2)"]) }
  }

  /// The other machine's value is older than the removed one, and its author did not see that the value was removed.
  @Test func aRemovedValueIsNotShownAgain() throws {
    let machines = try SettingsTests.machines(2)
    for machine in machines { try Self.pass(machine) }
    try Self.set(.integer(1), "page", on: machines[1])
    try Self.note(1_700_000_000, on: machines[1])
    for value in [PropertyListValue.integer(2), nil] {
      try Self.set(value, "page", on: machines[0])
      try Self.pass(machines[0])
    }
    for machine in machines.reversed() { try Self.pass(machine) }
    for machine in machines { #expect(try Self.values(machine) == ["page": "integer(1)"]) }
  }

  /// Gives a store the time at which it was last written, in seconds since 1970.
  private static func note(_ time: Double, on machine: Machine) throws {
    let journal = machine.directory.appending(path: "data/SyncedPreferences/\(name).journal").path
    try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: time)], ofItemAtPath: journal)
  }

  /// Also if a crash came between them, and both have one time.
  @Test(arguments: 0..<12) func theLaterChangeOfOneMachineStays(calls: Int) throws {
    let machines = try SettingsTests.machines(2)
    for machine in machines { try Self.pass(machine) }
    func set(_ value: Int64) throws {
      try Self.set(.integer(value), "page", on: machines[0])
      try Self.note(1_700_000_000, on: machines[0])
    }
    try set(1)
    machines[0].crash.callsUntilCrash = calls
    _ = try? Self.pass(machines[0])
    machines[0].crash.callsUntilCrash = nil
    try set(2)
    for machine in machines + machines { try Self.pass(machine) }
    for machine in machines { #expect(try Self.values(machine) == ["page": "integer(2)"]) }
  }

  /// It would empty the store of this machine alone.
  @Test func aReaderForgetsNothing() throws {
    let machines = try SettingsTests.machines(2)
    try Self.set(.integer(7), "page", on: machines[0])
    for machine in machines { try Self.pass(machine) }
    try machines[0].session().setRole(machines[1].session().state.replica.id, .reader)
    for machine in machines { try Self.pass(machine) }
    let session = try machines[1].session()
    #expect(throws: SyncError(.notAllowed)) { try session.forget(Self.name) }
    #expect(session.settings(of: Self.name).count == 1 && session.state.replica.pending.isEmpty)
  }

  /// Programs that read the file need not wait for the next change.
  @Test func receivedValuesAreInThePropertyList() throws {
    let machines = try SettingsTests.machines(2)
    for machine in machines { try Self.pass(machine) }
    try Self.set(.integer(7), "page", on: machines[0])
    for machine in machines { try Self.pass(machine) }
    let file = machines[1].directory.appending(path: "data/SyncedPreferences/\(Self.name).plist")
    let values = try unsafe PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil) as? [String: Int]
    #expect(values == ["page": 7])
    // Their directories go with them.
    withExtendedLifetime(machines) {}
  }

  /// The log has no such keys, and the values stay.
  @Test func keysThatTheLogCannotHaveStayOnTheMachine() throws {
    let machine = try #require(try SettingsTests.machines(1).first)
    for key in ["", String(repeating: "k", count: 65), "page"] { try Self.set(.integer(7), key, on: machine) }
    let report = try Self.pass(machine)
    #expect(report.sent == 1 && report.failed.isEmpty)
    try Self.set(.integer(8), "", on: machine)
    #expect(try Self.pass(machine).failed.isEmpty && Self.pass(machine).sent == 0)
    #expect(try Self.values(machine).count == 3 && Self.projection(machine).unsharedKeys.map(\.utf8.count) == [0, 65])
  }

  /// A machine that has the value sends it again, and another one takes it then.
  @Test func aLargeValueThatTheEngineHasLostComesBack() throws {
    let machines = try SettingsTests.machines(2)
    for machine in machines { try Self.pass(machine) }
    try Self.set(.data([UInt8](repeating: 1, count: 100_000)), "large", on: machines[0])
    try Self.pass(machines[0])
    machines[0].engine.shared.objects = [:]
    let report = try Self.pass(machines[1])
    #expect(report.failed.count == 1 && report.sent == 0)
    #expect(try Self.pass(machines[0]).sent == 1)
    #expect(try Self.pass(machines[1]).received == 1)
    #expect(try Self.values(machines[0]) == Self.values(machines[1]) && Self.values(machines[1]).keys.sorted() == ["large"])
    // A value that was changed meanwhile is sent as a change.
    try Self.set(.data([UInt8](repeating: 2, count: 100_000)), "large", on: machines[0])
    machines[0].engine.shared.objects = [:]
    #expect(try Self.pass(machines[0]).sent == 1)
    #expect(try Self.pass(machines[1]).received == 1)
    for machine in machines { #expect(try Self.pass(machine).sent == 0) }
    // A machine that has an earlier value alone sends nothing.
    try Self.set(.data([UInt8](repeating: 3, count: 100_000)), "large", on: machines[1])
    try Self.pass(machines[1])
    machines[0].engine.shared.objects = [:]
    let other = try Self.pass(machines[0])
    #expect(other.failed.count == 1 && other.sent == 0)
    #expect(try Self.pass(machines[1]).sent == 1 && Self.pass(machines[0]).received == 1)
  }

  /// A new machine with values of its own overwrites nothing that the person had.
  @Test func theLogWinsAtTheFirstMeeting() throws {
    let machines = try SettingsTests.machines(2)
    for (key, value) in [("both", 1), ("first", 1), ("equal", 5)] {
      try Self.set(.integer(Int64(value)), key, on: machines[0])
    }
    try Self.pass(machines[0])
    for (key, value) in [("both", 2), ("second", 2), ("equal", 5)] {
      try Self.set(.integer(Int64(value)), key, on: machines[1])
    }
    let report = try Self.pass(machines[1])
    #expect(report.refused == 1 && report.sent == 1)
    #expect(try Self.projection(machines[1]).refused.keys.sorted() == ["both"])
    try Self.pass(machines[0])
    let expected = ["both": 1, "first": 1, "equal": 5, "second": 2].mapValues { "\(PropertyListValue.integer(Int64($0)))" }
    for machine in machines { #expect(try Self.values(machine) == expected) }
  }

  @Test func aFullStoreGivesBackWhatWasRefused() throws {
    let machines = try SettingsTests.machines(2)
    for machine in machines { try Self.pass(machine) }
    for (machine, prefix) in zip(machines, ["a", "b"]) {
      let values = try Self.projection(machine).store.values
      try values.apply((0..<600).map { ("\(prefix)\($0)", .boolean(true)) })
    }
    let reports = try [0, 1, 0, 1].map { try Self.pass(machines[$0]) }
    #expect(reports[1].refused == 176)
    #expect(try Self.values(machines[0]).count == 1024 && Self.values(machines[0]) == Self.values(machines[1]))
    #expect(try Self.projection(machines[1]).refused.count == 176 && Self.reasons(machines[1]).contains(.quotaViolation))
    #expect(try machines[1].session().state.replica.refused.isEmpty)
  }

  /// The engine of the former space was lost: nothing that the person had goes.
  @Test func anotherSpaceTakesWhatThisMachineHas() throws {
    let former = try SettingsTests.machines(1)[0]
    try Self.set(.integer(1), "old", on: former)
    try Self.set(.integer(1), "both", on: former)
    try Self.pass(former)
    let machine = try SettingsTests.machines(2)[1]
    // Its files are those that the other space knew.
    try FileManager.default.copyItem(
      at: former.directory.appending(path: "data"), to: machine.directory.appending(path: "data"))
    try Self.set(nil, "both", on: machine)
    try machine.write(["unrelated": [1]])
    let report = try Self.pass(machine)
    #expect(report.sent == 1 && report.failed.isEmpty)
    #expect(try Self.values(machine).keys.sorted() == ["old"] && Self.reasons(machine).last == .accountChange)
    #expect(try machine.settings(of: Self.name).keys.sorted() == ["old"])
  }

  @Test(arguments: 0..<40) func aCrashAtAnyCallLosesNothing(calls: Int) throws {
    let machines = try SettingsTests.machines(2)
    for machine in machines { try Self.pass(machine) }
    try Self.set(.integer(1), "a", on: machines[0])
    try Self.set(.integer(2), "b", on: machines[1])
    machines[1].crash.callsUntilCrash = calls
    _ = try? Self.pass(machines[1])
    machines[1].crash.callsUntilCrash = nil
    for machine in machines + machines { try Self.pass(machine) }
    #expect(try Self.values(machines[0]) == Self.values(machines[1]) && Self.values(machines[0]).count == 2)
    #expect(try machines[0].session().state.replica.keptOperations().filter { $0.kind == .setting }.count == 2)
  }

  /// Three machines whose programs change settings at random, and whose passes crash at any call of the vault or the engine.
  @Test(arguments: 0..<24) func machinesAgree(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let machines = try SettingsTests.machines(3)
    for machine in machines { try Self.pass(machine) }
    // For each key the last change on each machine.
    var last: [String: [Int: PropertyListValue?]] = [:]
    var crashes = 0
    for step in 0..<50 {
      let index = Int.random(in: machines.indices, using: &random)
      let key = ["a", "b", "c"].randomElement(using: &random)!
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        let value = PropertyListValue.integer(Int64(step))
        try Self.set(value, key, on: machines[index])
        last[key, default: [:]][index] = .some(value)
      case 4:
        try Self.set(nil, key, on: machines[index])
        last[key, default: [:]][index] = .some(nil)
      default:
        let isCut = seed % 3 != 0 && Bool.random(using: &random)
        machines[index].crash.callsUntilCrash = isCut ? Int.random(in: 0..<30, using: &random) : nil
        do { try Self.pass(machines[index]) } catch is CrashPoint.Crash { crashes += 1 }
        machines[index].crash.callsUntilCrash = nil
      }
    }
    for machine in machines + machines + machines { try Self.pass(machine) }
    #expect((crashes > 0) == (seed % 3 != 0))
    let values = try Self.projection(machines[0]).store.values.values()
    for machine in machines {
      let projection = try Self.projection(machine)
      #expect(projection.store.values.values() == values && projection.refused.isEmpty)
      #expect(try projection.pending().isEmpty && machine.session().state.replica.pending.isEmpty)
    }
    for (key, changes) in last { #expect(changes.values.contains { $0 == values[key] }, "\(key)") }
  }
}
