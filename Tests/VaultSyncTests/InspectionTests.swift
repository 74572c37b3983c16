import CofferTesting
import SecretMemory
import Testing
import VaultCore

@testable import Coffer
@testable import CofferSync
@testable import VaultSync

/// Once a day a device looks at all that the engine has.
@Suite struct InspectionTests {
  private static let day: Int64 = 86_400_000

  private let shared = MemoryEngine()
  private let machine: Machine

  init() throws {
    machine = try Machine(1, shared)
    try machine.found()
  }

  @discardableResult
  private func pass(_ machine: Machine? = nil, onDay day: Int64) throws -> SyncReport {
    let machine = machine ?? self.machine
    let session = try machine.session()
    session.clock = { (100 + day) * Self.day }
    return try session.synchronise(with: machine.engine)
  }

  private func appendCheckpoint() throws {
    let session = try machine.session()
    var isMade = false
    try session.change { state in isMade = try state.replica.appendCheckpoint(to: machine.engine) { _ in } }
    #expect(isMade)
  }

  @Test func entriesGoThirtyDaysAfterTheirCheckpointWasSeen() throws {
    try machine.set("a", "x")
    try pass(onDay: 0)
    try appendCheckpoint()
    try machine.set("a", "y")
    try pass(onDay: 0)
    try appendCheckpoint()
    let number = try machine.session().state.replica.checkpoints[0].number
    for day: Int64 in 1...30 { try pass(onDay: day) }
    #expect(shared.deleted.isEmpty)
    try pass(onDay: 31)
    // The entry of the founder stays.
    #expect(shared.deleted == Set(1..<number))
    // A new device reads what is left.
    let other = try Machine(2, shared)
    try other.join(machine)
    #expect(try other.values() == ["a": "y "])
  }

  /// Otherwise the others would miss it for twenty years.
  @Test func aDeviceWhoseClockWasAheadGivesASign() throws {
    try machine.set("a", "x")
    try pass(onDay: 7300)
    let count = shared.log.count
    try pass(onDay: 0)
    #expect(shared.log.count == count + 1)
    for day: Int64 in 0...7 { try pass(onDay: day) }
    #expect(shared.log.count == count + 1)
    try pass(onDay: 8)
    #expect(shared.log.count == count + 2)
  }

  /// A clock that is twenty years ahead, for good or for one pass, is one look.
  @Test func aClockThatJumpsIsOneLook() throws {
    try machine.set("a", "x")
    try pass(onDay: 0)
    for _ in 0..<2 { try appendCheckpoint() }
    let stray = ObjectName(of: [1])
    shared.objects[stray] = [1]
    for day: Int64 in [7300, 0, 1, 2, 7300, 7301, -90, 7301, -90, 7301, -90, 7301, -90, 7301, -90, 7301] { try pass(onDay: day) }
    // Several passes of one day are one look too.
    for _ in 0..<40 { try pass(onDay: 7301) }
    #expect(shared.deleted.isEmpty && shared.objects[stray] != nil)
  }

  @Test func objectsGoSevenDaysAfterNothingNamesThem() throws {
    try machine.set("large", String(repeating: "x", count: 100_000))
    try pass(onDay: 0)
    let large = try #require(shared.objects.keys.first)
    let stray = ObjectName(of: [1, 2, 3])
    shared.objects[stray] = [1, 2, 3]
    for day: Int64 in 1...7 { try pass(onDay: day) }
    #expect(shared.objects[stray] != nil)
    try pass(onDay: 8)
    #expect(shared.objects[stray] == nil && shared.objects[large] != nil)
    // It is replaced. Entries that name it are read until two checkpoints have passed; conflicts and former values need it no longer.
    try machine.set("large", "small")
    for day: Int64 in 9...20 { try pass(onDay: day) }
    #expect(shared.objects[large] != nil)
    for _ in 0..<2 { try appendCheckpoint() }
    for day: Int64 in 21...27 { try pass(onDay: day) }
    #expect(shared.objects[large] != nil)
    try pass(onDay: 28)
    #expect(shared.objects[large] == nil)
    let other = try Machine(2, shared)
    try other.join(machine)
    #expect(try other.values() == ["large": "small "])
  }

  /// The others need no right to.
  @Test func onlyAnOwnerDeletes() throws {
    let other = try Machine(2, shared)
    try other.join(machine)
    try pass(onDay: 0)
    for _ in 0..<2 { try appendCheckpoint() }
    for day: Int64 in 0...40 { try pass(other, onDay: day) }
    #expect(shared.deleted.isEmpty)
  }

  /// An engine that refuses to delete stops no pass, and the report has its words.
  @Test func aRefusalIsTold() throws {
    shared.refusesDeletions = true
    shared.objects[ObjectName(of: [1])] = [1]
    for day: Int64 in 0...6 { #expect(try pass(onDay: day).inspection.undeleted == nil) }
    #expect(try pass(onDay: 7).inspection.undeleted != nil)
    shared.refusesDeletions = false
    #expect(try pass(onDay: 8).inspection.undeleted == nil && shared.objects.isEmpty)
  }

  /// A value of an item that the engine has lost is stored again from the vault of a device that has it.
  @Test func aLostObjectComesBack() throws {
    let text = String(repeating: "x", count: 100_000)
    try machine.set("large", text)
    try pass(onDay: 0)
    shared.objects = [:]
    // The first pass finds it, and the next one compares the values.
    for _ in 0..<2 { try pass(onDay: 0) }
    #expect(shared.objects.isEmpty)
    for _ in 0..<2 { try pass(onDay: 1) }
    let other = try Machine(2, shared)
    try other.join(machine)
    #expect(try other.values() == ["large": text + " "])
  }

  /// The name of an object is there, with other bytes behind it: a large value and a part of a checkpoint.
  @Test func aDamagedObjectIsWrittenAnew() throws {
    let text = String(repeating: "x", count: 100_000)
    try machine.set("large", text)
    try pass(onDay: 0)
    for name in shared.objects.keys { shared.objects[name]?[40] ^= 1 }
    for _ in 0..<2 { try pass(onDay: 0) }
    #expect(shared.objects.count == 1, "it looks once a day")
    for _ in 0..<2 { try pass(onDay: 1) }
    try appendCheckpoint()
    let parts = try #require(try machine.session().state.replica.checkpoints.last).objects
    for name in parts { shared.objects[name]?.removeLast() }
    try pass(onDay: 2)
    let other = try Machine(2, shared)
    try other.join(machine)
    #expect(try other.values() == ["large": text + " "])
  }

  /// A device that never got the value has an earlier one, and a reader has no right to send it.
  @Test(arguments: [Role.member, .reader]) func aDeviceWithoutTheValueSendsNothing(role: Role) throws {
    let other = try Machine(2, shared)
    try other.join(machine)
    try machine.set("item", "small")
    for machine in [machine, other] { try pass(machine, onDay: 0) }
    let large = String(repeating: "x", count: 100_000)
    try machine.set("item", large)
    try pass(onDay: 0)
    if role == .reader {
      try pass(other, onDay: 0)
      try machine.session().setRole(other.session().state.replica.id, .reader)
      try pass(onDay: 0)
    }
    shared.objects = [:]
    let count = shared.log.count
    for _ in 0..<4 { try pass(other, onDay: 1) }
    #expect(try shared.log.count == count && other.session().state.replica.pending.isEmpty)
    for _ in 0..<2 { try pass(onDay: 1) }
    try pass(other, onDay: 1)
    #expect(try other.values() == ["item": large + " "] && other.session().conflicts().isEmpty)
  }

  /// While the device was off, the space has forgotten that the item was deleted.
  @Test func aDeletionThatIsForgottenIsCarriedOut() throws {
    let other = try Machine(2, shared)
    try other.join(machine)
    for account in ["kept", "changed", "deleted"] { try machine.set(account, "x") }
    for machine in [machine, other] { try pass(machine, onDay: 0) }
    for account in ["changed", "deleted"] { try machine.remove(account) }
    try pass(onDay: 0)
    for _ in 0..<4 { try appendCheckpoint() }
    try other.set("changed", "y")
    #expect(try pass(other, onDay: 0).removed == 1)
    #expect(try other.values() == ["kept": "x ", "changed": "y "] && other.versions("deleted") == ["x"])
    try pass(onDay: 0)
    #expect(try machine.values() == other.values())
  }

  /// A file in the middle of the log was deleted.
  @Test func aLostEntryComesBack() throws {
    for secret in ["x", "y"] {
      try machine.set("a", secret)
      try pass(onDay: 0)
    }
    let log = shared.log
    shared.deleted = [1]
    #expect(try pass(onDay: 0).restored == 0)
    let report = try pass(onDay: 1)
    #expect(report.restored == 1 && !report.inspection.lacksEntries && shared.deleted.isEmpty && shared.log == log)
  }

  /// A pass that needs no room goes on, and a new device is not added.
  @Test func aFullEngineStopsNoLook() throws {
    for secret in ["x", "y"] {
      try machine.set("a", secret)
      try pass(onDay: 0)
    }
    (shared.deleted, shared.isFull) = ([1], true)
    let report = try pass(onDay: 1)
    #expect(report.inspection.unrestored is CrashPoint.Crash && report.restored == 0)
    #expect(try pass(onDay: 1).inspection.unrestored == nil, "it looks once a day")
    shared.isFull = false
    #expect(try pass(onDay: 2).restored == 1)
  }

  /// Only an owner makes another checkpoint.
  @Test func missingPartsAreReported() throws {
    let other = try Machine(2, shared)
    try machine.set("a", "x")
    try pass(onDay: 0)
    try other.join(machine)
    try pass(onDay: 0)
    try appendCheckpoint()
    for machine in [machine, other] { #expect(try !pass(machine, onDay: 0).lacksParts) }
    shared.objects = [:]
    #expect(try pass(other, onDay: 1).lacksParts)
    #expect(try !pass(onDay: 1).lacksParts && !shared.objects.isEmpty)
    #expect(try !pass(other, onDay: 2).lacksParts)
  }

  /// The numbers of another history may be those of checkpoints that were never seen.
  @Test func anAcceptedHistoryIsCountedAnew() throws {
    try machine.set("a", "x")
    try pass(onDay: 0)
    for _ in 0..<2 { try appendCheckpoint() }
    for day: Int64 in 1...30 { try pass(onDay: day) }
    try machine.session().acceptHistory(of: machine.engine)
    for day: Int64 in 31...60 { try pass(onDay: day) }
    #expect(shared.deleted.isEmpty)
    try pass(onDay: 61)
    #expect(!shared.deleted.isEmpty)
  }
}
